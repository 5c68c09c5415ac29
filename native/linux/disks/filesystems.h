// The filesystems that are shown, as a prober last found them in the mount table.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/prober.h"
#include "host/roots.h"
#include "linux/disks/mounts.h"
#include "linux/disks/select_mounts.h"
#include "linux/disks/usage.h"

namespace hostwire {

struct Filesystem {
  MountGroup mounts;
  std::vector<std::string> shownPoints;  // in the order of `mounts`; valid UTF-8
  // The same object as long as the shown mount exists: it may be stuck in its question.
  std::shared_ptr<const Prober<DiskUsageReply>> usage;
  bool isOutdated = false;  // the mounts after the first may have changed since
};

struct FilesystemTable {
  std::vector<Filesystem> filesystems;  // in the order of the mount table
  std::uint64_t version = 0;            // the newest request that preceded the reading
  std::shared_ptr<const MountWatch> watch;
  std::string path;  // of the mount table
};
using SharedFilesystems = std::shared_ptr<const FilesystemTable>;

// For the JavaScript thread: opens and reads nothing. A prober reads the mount table when it has changed.
class Filesystems {
 public:
  Filesystems(const Roots& roots, ProberPool& probers);

  // Picks up the prober's result; null before the first one. Throws ProbeError when the table cannot be read.
  const SharedFilesystems& take();
  // Returns whether the mounts may differ from those of the last `take`, which returned a table.
  bool isOutdated();
  // Requests another reading of the table, even without a change.
  void readAgain();
  // Version of the next table to be read.
  std::uint64_t version() const { return *requested_; }
  // Returns whether a changed table could not be read for seconds, so that nothing in it is certain.
  bool isLate() const;

 private:
  const std::shared_ptr<std::atomic<std::uint64_t>> requested_;
  const Prober<SharedFilesystems> prober_;
  SharedFilesystems table_;
  bool isUnanswered_ = false;
  std::chrono::steady_clock::time_point outdatedSince_;
};

}  // namespace hostwire
