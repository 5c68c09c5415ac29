// The mount table, read again only when the kernel says that it changed.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/disks/first_mounts.h"
#include "linux/disks/parse_mounts.h"
#include "linux/kernel/file.h"

namespace hostwire {

class MountTable {
 public:
  explicit MountTable(const Roots& roots);

  // The mounts at the first call and after a change, else nothing. Throws HostError when they can't be read;
  // the next call tries again.
  std::optional<std::vector<Mount>> readIfChanged();

  // Has the next call return them whether it changed or not.
  void readAgain() { mustRead_ = true; }

  // What stands before a mount point on the way to it; empty for the mounts this process sees itself.
  const std::string& pathPrefix() const { return prefix_; }

 private:
  void openFirst();
  bool hasChanged();

  const Roots roots_;
  std::string prefix_;
  std::optional<KeptFile> file_;
  std::optional<FirstMounts> first_;  // only beside a table of this process's own machine
  std::string buffer_;
  bool isKernelText_ = false;  // else a fixture
  bool mustRead_ = true;
  struct stat fixtureBefore_ {};
};

}  // namespace hostwire
