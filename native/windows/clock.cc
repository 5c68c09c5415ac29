// The clocks of Windows.
#include "host/clock.h"

#include <chrono>

namespace hostwire {

ClockReading readClock() {
  using std::chrono::duration_cast;
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const auto steadyNs = duration_cast<std::chrono::nanoseconds>(steady).count();
  return {steadyNs, steadyNs, duration_cast<std::chrono::milliseconds>(wall).count()};
}

}  // namespace hostwire
