// The Linux clocks: clock_gettime(2), adjtimex(2).
#include "host/clock.h"

#include <sys/timex.h>

#include <algorithm>
#include <ctime>

namespace hostwire {
namespace {

std::int64_t readNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// The kernel adds 500 µs per second since the last synchronization, and gives up at 16 s (NTP_PHASE_LIMIT).
std::optional<double> readErrorSeconds() {
  constexpr long kGivenUpUs = 16'000'000;
  timex clock{};  // modes 0: read only
  if (adjtimex(&clock) < 0) return std::nullopt;
  const bool isSynchronized = (clock.status & STA_UNSYNC) == 0;
  return static_cast<double>(isSynchronized ? clock.maxerror : std::max(clock.maxerror, kGivenUpUs)) / 1e6;
}

}  // namespace

ClockReading readClock() {
  return {readNs(CLOCK_MONOTONIC), readNs(CLOCK_BOOTTIME), readNs(CLOCK_REALTIME) / 1'000'000,
          readErrorSeconds()};
}

}  // namespace hostwire
