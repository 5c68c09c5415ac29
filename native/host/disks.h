// Mounted filesystems: their names, their usage (asked by probers) and the I/O counters of their devices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

struct DiskUsage {
  std::uint64_t totalBytes = 0;
  std::uint64_t freeBytes = 0;       // free for root
  std::uint64_t availableBytes = 0;  // available to all other users
  // Inodes; 0 where the filesystem has no fixed number, absent where the platform does not report one.
  std::optional<std::uint64_t> files, filesFree;
};

struct DiskIo {
  std::uint64_t readBytes = 0;
  std::uint64_t writeBytes = 0;
  std::uint64_t busyMs = 0;
};

struct DiskCounters {
  std::string mountPoint;  // valid UTF-8: other bytes become U+FFFD
  std::string device;      // as mountinfo names it: /dev/sda1, server:/export, pool/dataset
  std::string type;        // ext4, btrfs, nfs4, …
  std::optional<std::string> label;
  std::optional<bool> isReadOnly;
  std::optional<bool> isRemovable;
  std::optional<DiskUsage> usage;  // the last answer; absent until the first one
  bool isStale = false;            // asked, but not answered in time or never answered
  std::optional<DiskIo> io;        // absent when the filesystem is not on a block device of its own
  std::string ioDevices;           // the devices whose counters `io` sums; empty where they never change
};

class DisksReader {
 public:
  DisksReader(const Roots& roots, ProberPool& probers);
  ~DisksReader();
  std::vector<DiskCounters> read(bool withDetail);
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
