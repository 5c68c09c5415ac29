// The clocks used for watching players.
#pragma once

#include <windows.h>

#include <chrono>
#include <cstdint>

#include "windows/media/session_table.h"

namespace hostwire::smtc {

// Returns monotonic milliseconds.
inline double nowMs() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline SessionMoment now() {
  FILETIME date{};
  GetSystemTimePreciseAsFileTime(&date);
  const std::uint64_t ticks = static_cast<std::uint64_t>(date.dwHighDateTime) << 32U | date.dwLowDateTime;
  return {nowMs(), static_cast<std::int64_t>(ticks)};
}

}  // namespace hostwire::smtc
