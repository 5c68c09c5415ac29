// Limits on this process's use of the machine, set by a container, a service manager or a job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

// Counters of the scheduler. A period is the time over which a quota of processor time is given, usually 100
// ms; it is counted only while the group has something to run.
struct CpuThrottling {
  std::string group;  // the group that these counters belong to; valid UTF-8
  std::uint64_t periods = 0;
  std::uint64_t throttledPeriods = 0;  // periods in which the quota was used up
};

// A value is absent if it is not limited.
struct LimitCounters {
  std::optional<std::uint64_t> memoryBytes;
  std::optional<std::uint64_t> memoryUsedBytes;  // by all processes that share this limit
  std::optional<double> cpus;                    // 1.5: the time of one and a half processors
  std::optional<CpuThrottling> throttling;
  std::string failure;  // why a part of it cannot be read, without a full stop
};

// The limits are always those of this process: the roots say where the machine's values are, and another
// /proc does not change what the service itself may use (`self` in it is this process as well).
class LimitsReader {
 public:
  LimitsReader(const Roots& roots, ProberPool& probers);
  ~LimitsReader();
  // Reads them; only for detail. Nothing until the first answer.
  std::optional<LimitCounters> read();
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
