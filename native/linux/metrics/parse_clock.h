// Families of metrics for the system clock. Pure.
#pragma once

#include <sys/timex.h>

#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// Writes the answer of adjtimex(2): `state` is its result.
void writeClock(const timex& clock, int state, Exposition& out);
// Write `current_clocksource` and `available_clocksource` of /sys/devices/system/clocksource/clocksource0.
void writeCurrentClockSource(std::string_view text, Exposition& out);
void writeClockSources(std::string_view text, Exposition& out);

}  // namespace hostwire
