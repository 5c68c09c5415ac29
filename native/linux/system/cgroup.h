// The limits of a cgroup and of its ancestors: the lowest of them binds. Their files stay open.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/resource_limits.h"
#include "linux/kernel/file.h"

namespace hostwire {

// One file of one cgroup. It exists while the controller is enabled for that cgroup, which systemd does when
// a limit is set.
class CgroupFile {
 public:
  explicit CgroupFile(std::string path) : file_(std::move(path)) {}

  void look();
  // Empty if the file was missing when it was last looked for. Throws HostError: ENODEV once the cgroup is
  // gone.
  std::string_view read(std::string& buffer);

 private:
  KeptFile file_;
  bool isThere_ = false;
};

class CgroupMemory {
 public:
  // `folders` as cgroupFolders returns them.
  CgroupMemory(const std::vector<std::string>& folders, bool isUnified);
  // Looks for files that have appeared.
  void look();
  // Adds the limit and the memory used of it. Throws HostError.
  void read(LimitCounters& counters, std::string& buffer);

 private:
  struct Level {
    std::vector<CgroupFile> limits;
    CgroupFile used;
  };
  std::vector<Level> levels_;
};

// Like CgroupMemory, for the processors that it may use.
class CgroupCpuset {
 public:
  // `online`: the file with the list of all processors.
  CgroupCpuset(const std::vector<std::string>& folders, bool isUnified, std::string online);
  void look();
  // Lowers the number of processors. Throws HostError.
  void read(LimitCounters& counters, std::string& buffer);

 private:
  std::vector<CgroupFile> levels_;
  KeptFile online_;
};

// Like CgroupMemory, for the quota of processor time.
class CgroupCpu {
 public:
  CgroupCpu(const std::vector<std::string>& folders, bool isUnified);
  void look();
  void read(LimitCounters& counters, std::string& buffer);

 private:
  struct Level {
    std::string folder;
    std::vector<CgroupFile> quota;  // version 1: quota and period
    CgroupFile stat;
  };
  static std::optional<double> readQuota(Level& level, std::string& buffer);

  std::vector<Level> levels_;
};

}  // namespace hostwire
