// Disk I/O of processes: /proc/PID/io.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/process.h"

namespace hostwire {

// Returns the CPU time of the calling thread.
std::int64_t readThreadCpuNs();

// Reading one may hang: the kernel waits for a process that replaces its program, which may be waiting for a
// dead file server. So each pass over all processes has a thread of its own, and later ones leave out the
// process at which an earlier one hangs. The counters of other users' processes are shown only to root and
// with CAP_SYS_PTRACE: a process that hides them is not asked again, because 2,000 refusals take 6 to 14 ms.
// May be called on any thread; one pass runs at a time.
class DiskIo {
 public:
  explicit DiskIo(std::string proc);

  // Adds the counters to `processes`, a whole reading; waits for at most `patience`. Returns the CPU time of
  // the pass; nothing if it did not finish in time, or the maximum number of passes hangs: no process has
  // counters then.
  std::optional<std::int64_t> complete(std::vector<ProcessCounters>& processes,
                                       std::chrono::milliseconds patience);

  struct Pass;

 private:
  std::vector<ProcessId> chooseAsked(const std::vector<ProcessCounters>& processes);
  bool isStuckAt(const ProcessId& process) const;

  const std::string proc_;
  std::mutex mutex_;               // for all below
  std::vector<ProcessId> hidden_;  // of the last reading, by ascending number
  std::array<std::shared_ptr<Pass>, 2> passes_;
};

}  // namespace hostwire
