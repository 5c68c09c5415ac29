// What this process may use of the machine: the limits that a container, a service manager or a job sets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

// Counters of the scheduler. A period is the time over which a quota of processor time is given, 100 ms as a
// rule; it is counted only while there is something to run.
struct CpuThrottling {
  std::string group;  // whose counters these are; valid UTF-8
  std::uint64_t periods = 0;
  std::uint64_t throttledPeriods = 0;  // in which the quota was used up
};

// A value is absent where there is no limit.
struct LimitCounters {
  std::optional<std::uint64_t> memoryBytes;
  std::optional<std::uint64_t> memoryUsedBytes;  // by all processes that share this limit
  std::optional<double> cpus;                    // 1.5: the time of one and a half processors
  std::optional<CpuThrottling> throttling;
  std::string failure;  // why some of it cannot be read, without a full stop
};

// The limits are always those of this process: the roots say where the machine's figures are, and another
// /proc changes nothing about what the service itself may use (`self` in it is this process as well).
class LimitsReader {
 public:
  LimitsReader(const Roots& roots, ProberPool& probers);
  ~LimitsReader();
  // Only for detail. Nothing until the first answer.
  std::optional<LimitCounters> read();
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
