// Shared by the parts of MPRIS: its names on the bus, and the clock.
#pragma once

#include <chrono>

namespace hostwire::mpris {

inline constexpr const char* kPath = "/org/mpris/MediaPlayer2";
inline constexpr const char* kPlayer = "org.mpris.MediaPlayer2.Player";
inline constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

// The bus itself.
inline constexpr const char* kBusName = "org.freedesktop.DBus";
inline constexpr const char* kBusPath = "/org/freedesktop/DBus";

// Time limit for an answer that nothing waits for.
inline constexpr std::chrono::milliseconds kPatience{25'000};

// Returns monotonic milliseconds.
inline double nowMs() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace hostwire::mpris
