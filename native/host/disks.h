// Mounted filesystems: what they are, how full they are (asked by probers) and their device's I/O counters.
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
  std::uint64_t availableBytes = 0;  // available to everyone else
  // Inodes; 0 where the filesystem has no fixed number of them, absent where the platform has none.
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
  bool isStale = false;            // asked and not answered in time, or never answered
  std::optional<DiskIo> io;        // absent when the filesystem has no block device of its own
  std::string ioDevices;           // what `io` is the sum of; empty where that never changes
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
