// The machine's clocks, read together with every set of counters.
#pragma once

#include <cstdint>

namespace hostwire {

struct ClockReading {
  std::int64_t monotonicNs = 0;  // does not count suspend: the base of every rate
  std::int64_t sinceBootNs = 0;  // counts suspend: the uptime
  std::int64_t unixMs = 0;       // wall clock; may step
};

ClockReading readClock();

}  // namespace hostwire
