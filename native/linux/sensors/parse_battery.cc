// The uevent file of a power supply.
#include "linux/sensors/parse_battery.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

using Field = std::optional<double> BatteryCounters::*;

struct Quantity {
  std::string_view key;
  Field field;
  double max;  // in the field's unit: far above anything that powers a computer
};

constexpr double kMaxWh = 1e6;
constexpr double kMaxAh = 1e5;
constexpr double kMaxVolts = 1e3;
constexpr double kMaxWatts = 1e5;
constexpr double kMaxAmps = 1e4;

constexpr std::array<Quantity, 9> kMicroQuantities{{
    {"ENERGY_NOW", &BatteryCounters::energyWh, kMaxWh},
    {"ENERGY_FULL", &BatteryCounters::energyFullWh, kMaxWh},
    {"ENERGY_FULL_DESIGN", &BatteryCounters::energyDesignWh, kMaxWh},
    {"CHARGE_NOW", &BatteryCounters::chargeAh, kMaxAh},
    {"CHARGE_FULL", &BatteryCounters::chargeFullAh, kMaxAh},
    {"CHARGE_FULL_DESIGN", &BatteryCounters::chargeDesignAh, kMaxAh},
    {"VOLTAGE_NOW", &BatteryCounters::voltageVolts, kMaxVolts},
    {"POWER_NOW", &BatteryCounters::powerWatts, kMaxWatts},
    {"CURRENT_NOW", &BatteryCounters::currentAmps, kMaxAmps},
}};

constexpr std::array<std::string_view, 5> kStates{"charging", "discharging", "full", "not_charging",
                                                  "unknown"};
constexpr double kMaxSeconds = 30.0 * 86'400;

// Converts "Not charging" to "not_charging"; nothing for a word that the kernel does not use.
std::optional<std::string> parseState(std::string_view text) {
  std::string state;
  for (const char c : text)
    state += isBlank(c) ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::find(kStates.begin(), kStates.end(), state) == kStates.end()) return std::nullopt;
  return state;
}

// Returns whether a register of 16 or 32 bits held only ones, as a gauge that does not answer is read, in the
// units of drivers: as it is, in thousands (mV, mAh), or in ten thousands (10 mWh, sbs-battery.c).
bool isAllOnes(std::int64_t number) {
  constexpr std::int64_t kOnes = 65'535;
  return number == kOnes || number == kOnes * 1000 || number == kOnes * 10'000 || number == UINT32_MAX;
}

// Drivers differ in whether an outgoing current is negative; the state gives the direction. 0 for a value
// that no battery has at 0 (a full charge, a voltage) means that the firmware does not know it.
void takeMicro(BatteryCounters& battery, const Quantity& quantity, std::int64_t micro) {
  const bool isFlow =
      quantity.field == &BatteryCounters::powerWatts || quantity.field == &BatteryCounters::currentAmps;
  const bool mayBeZero =
      isFlow || quantity.field == &BatteryCounters::energyWh || quantity.field == &BatteryCounters::chargeAh;
  double value = static_cast<double>(micro) / 1e6;
  if (isFlow) value = std::abs(value);
  if (value >= 0 && value <= quantity.max && (mayBeZero || value > 0)) battery.*quantity.field = value;
}

// Returns whether a quantity that the battery has was all ones, and no other is known, or its voltage was:
// then the rest, a share that the driver limits to 100 % and bits of a state, are ones as well.
bool isSilent(const BatteryCounters& battery, bool hasOnes, bool isVoltageOnes) {
  const bool isKnown = battery.energyWh || battery.energyFullWh || battery.chargeAh || battery.chargeFullAh ||
                       battery.voltageVolts;
  return isVoltageOnes || (hasOnes && !isKnown);
}

void takeNumber(BatteryCounters& battery, std::string_view key, std::int64_t number) {
  for (const Quantity& quantity : kMicroQuantities)
    if (quantity.key == key) return takeMicro(battery, quantity, number);
  const auto value = static_cast<double>(number);
  if (key == "CAPACITY" && value >= 0 && value < 255) battery.percent = std::min(value, 100.0);
  if (value <= 0 || value > kMaxSeconds) return;
  if (key == "TIME_TO_EMPTY_NOW" || (key == "TIME_TO_EMPTY_AVG" && !battery.secondsToEmpty))
    battery.secondsToEmpty = value;
  if (key == "TIME_TO_FULL_NOW" || (key == "TIME_TO_FULL_AVG" && !battery.secondsToFull))
    battery.secondsToFull = value;
}

}  // namespace

PowerSupply parsePowerSupply(std::string_view uevent) {
  constexpr std::string_view kPrefix = "POWER_SUPPLY_";
  PowerSupply supply;
  bool hasOnes = false;
  bool isVoltageOnes = false;
  std::string_view line;
  while (takeLine(uevent, line)) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kPrefix) || equals == std::string_view::npos || equals < kPrefix.size()) continue;
    const std::string_view key = line.substr(kPrefix.size(), equals - kPrefix.size());
    const std::string_view value = line.substr(equals + 1);
    if (key == "NAME") supply.battery.name = value;
    if (key == "PRESENT") supply.isPresent = value != "0";
    if (key == "STATUS") supply.battery.state = parseState(value);
    const auto number = parseInteger(value);
    if (!number) continue;
    if (!isAllOnes(*number)) {
      takeNumber(supply.battery, key, *number);
      continue;
    }
    hasOnes = hasOnes || key.starts_with("ENERGY_") || key.starts_with("CHARGE_");
    isVoltageOnes = isVoltageOnes || key == "VOLTAGE_NOW";
  }
  if (isSilent(supply.battery, hasOnes, isVoltageOnes)) {
    BatteryCounters silent;
    silent.name = std::move(supply.battery.name);
    silent.failure = "the registers of its gauge are all ones";
    supply.battery = std::move(silent);
  }
  return supply;
}

bool isSystemBattery(std::string_view type, std::string_view scope) {
  return type == "Battery" && scope != "Device";
}

}  // namespace hostwire
