// The machine's clocks, read together with every set of counters.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

struct ClockReading {
  std::int64_t monotonicNs = 0;  // does not count suspend: the base of every rate
  std::int64_t sinceBootNs = 0;  // counts suspend: the uptime
  std::int64_t unixMs = 0;       // wall clock; may step
  // Bound of the error of the wall clock, 16 or more while nothing synchronizes it. Absent: the system keeps
  // none, or a sandbox forbids asking.
  std::optional<double> errorSeconds = std::nullopt;
};

ClockReading readClock();

}  // namespace hostwire
