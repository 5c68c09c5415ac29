// The battery driver's structures (poclass.h), converted. Pure: the structures are declared here.
#pragma once

#include <cstdint>
#include <optional>

#include "host/batteries.h"

namespace hostwire::windows {

// BATTERY_INFORMATION
struct BatteryFacts {
  std::uint32_t capabilities = 0;
  std::uint8_t technology = 0;
  std::uint8_t reserved[3] = {};
  std::uint8_t chemistry[4] = {};
  std::uint32_t designedCapacity = 0;
  std::uint32_t fullChargedCapacity = 0;
  std::uint32_t defaultAlert1 = 0;
  std::uint32_t defaultAlert2 = 0;
  std::uint32_t criticalBias = 0;
  std::uint32_t cycleCount = 0;
};
static_assert(sizeof(BatteryFacts) == 36);

// BATTERY_STATUS
struct BatteryState {
  std::uint32_t powerState = 0;
  std::uint32_t capacity = 0;
  std::uint32_t voltage = 0;
  std::int32_t rate = 0;
};
static_assert(sizeof(BatteryState) == 16);

// Returns whether it powers this machine, unlike a UPS's or a mouse's.
bool isSystemBattery(const BatteryFacts& facts);

// Converts all but the name. `secondsLeft`: BatteryEstimatedTime, if that was answered.
BatteryCounters batteryOf(const BatteryFacts& facts, const BatteryState& state,
                          std::optional<std::uint32_t> secondsLeft);

}  // namespace hostwire::windows
