// Converts milliwatt-hours, millivolts, milliwatts, and the numbers that stand for unknown.
#include "windows/sensors/parse_battery_status.h"

#include <algorithm>
#include <limits>
#include <string>

namespace hostwire::windows {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
constexpr std::int32_t kUnknownRate = std::numeric_limits<std::int32_t>::min();
// BATTERY_SYSTEM_BATTERY, BATTERY_CAPACITY_RELATIVE, BATTERY_IS_SHORT_TERM
constexpr std::uint32_t kIsSystem = 0x80000000;
constexpr std::uint32_t kIsRelative = 0x40000000;
constexpr std::uint32_t kIsShortTerm = 0x20000000;
// BATTERY_POWER_ON_LINE and the following flags
constexpr std::uint32_t kOnLine = 1;
constexpr std::uint32_t kDischarging = 2;
constexpr std::uint32_t kCharging = 4;

// Converts thousandths.
std::optional<double> unitsOf(std::uint32_t thousandths) {
  if (thousandths == kUnknown) return std::nullopt;
  return thousandths / 1000.0;
}

std::string stateOf(const BatteryState& state, std::uint32_t full) {
  if ((state.powerState & kCharging) != 0) return "charging";
  if ((state.powerState & kDischarging) != 0) return "discharging";
  if ((state.powerState & kOnLine) == 0 || state.capacity == kUnknown) return "unknown";
  return full != 0 && full != kUnknown && state.capacity >= full ? "full" : "not_charging";
}

}  // namespace

bool isSystemBattery(const BatteryFacts& facts) {
  return (facts.capabilities & kIsSystem) != 0 && (facts.capabilities & kIsShortTerm) == 0;
}

BatteryCounters batteryOf(const BatteryFacts& facts, const BatteryState& state,
                          std::optional<std::uint32_t> secondsLeft) {
  BatteryCounters battery;
  const std::uint32_t full = facts.fullChargedCapacity;
  battery.state = stateOf(state, full);
  if (state.capacity != kUnknown && full != 0 && full != kUnknown)
    battery.percent = std::min(100.0, 100.0 * state.capacity / full);
  battery.voltageVolts = unitsOf(state.voltage);
  // Relative capacities are shares of a quantity that the driver does not name.
  if ((facts.capabilities & kIsRelative) == 0) {
    battery.energyWh = unitsOf(state.capacity);
    battery.energyFullWh = unitsOf(full);
    battery.energyDesignWh = unitsOf(facts.designedCapacity);
    if (state.rate != kUnknownRate) battery.powerWatts = (state.rate < 0 ? -1.0 : 1.0) * state.rate / 1000.0;
  }
  if (battery.state == "discharging" && secondsLeft && *secondsLeft != kUnknown)
    battery.secondsToEmpty = *secondsLeft;
  return battery;
}

}  // namespace hostwire::windows
