// The Linux clocks: clock_gettime(2).
#include "host/clock.h"

#include <ctime>

namespace hostwire {
namespace {

std::int64_t readNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

ClockReading readClock() {
  return {readNs(CLOCK_MONOTONIC), readNs(CLOCK_BOOTTIME), readNs(CLOCK_REALTIME) / 1'000'000};
}

}  // namespace hostwire
