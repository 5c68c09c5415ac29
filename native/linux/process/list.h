// The whole list of processes, read file by file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/process.h"
#include "linux/kernel/file.h"
#include "linux/process/disk_io.h"
#include "linux/process/names.h"

namespace hostwire {

struct ReadingParts {
  bool hasOwners = false;
  bool hasDisks = false;
};

// Keeps state between consecutive readings. Not for two threads at the same time.
class ProcessLister {
 public:
  ProcessLister(const Roots& roots, std::shared_ptr<FullNames> names, std::shared_ptr<DiskIo> disks);
  // Throws HostError if no list can be read at all.
  ProcessReading read(ReadingParts parts);

 private:
  void listPids();
  std::optional<std::uint64_t> readMachineTicks();

  Roots roots_;
  std::shared_ptr<FullNames> names_;
  std::shared_ptr<DiskIo> disks_;
  FileDescriptor folder_;
  KeptFile stat_;
  std::string buffer_;
  std::vector<std::int32_t> pids_;
};

// Returns the names of the users in `reading` that are in the system's user list. Users known only to a
// directory service are left out: asking it may hang.
std::vector<ProcessOwner> readOwners(const Roots& roots, const std::vector<ProcessCounters>& processes);

}  // namespace hostwire
