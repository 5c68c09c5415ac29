// The system clock as families of metrics.
#pragma once

#include <sys/timex.h>

#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// What adjtimex(2) answers: `state` is its result. Pure.
void writeClock(const timex& clock, int state, Exposition& out);
// The same of this machine. Nothing where the call is forbidden, as by ProtectClock= of systemd.
void writeSystemClock(Exposition& out);
// The time zone of this process, now.
void writeTimeZone(Exposition& out);
// `current_clocksource` and `available_clocksource` of /sys/devices/system/clocksource/clocksource0. Pure.
void writeCurrentClockSource(std::string_view text, Exposition& out);
void writeClockSources(std::string_view text, Exposition& out);

}  // namespace hostwire
