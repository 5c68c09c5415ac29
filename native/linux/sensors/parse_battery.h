// Parser of power_supply's properties (Documentation/ABI/testing/sysfs-class-power): pure, never throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/batteries.h"

namespace hostwire {

struct PowerSupply {
  bool isPresent = true;  // false: an empty bay
  BatteryCounters battery;
};

// Parses the uevent file of a supply: POWER_SUPPLY_CAPACITY=83 and so on, in micro-units. Implausible values
// are left out, and all of them, with a failure, if the gauge of the battery does not answer.
PowerSupply parsePowerSupply(std::string_view uevent);

// Returns whether a supply's files `type` and `scope` describe a battery of the machine: not a charger, nor
// the battery of a mouse.
bool isSystemBattery(std::string_view type, std::string_view scope);

}  // namespace hostwire
