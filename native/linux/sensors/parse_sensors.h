// Parsers of hwmon's files (Documentation/hwmon/sysfs-interface.rst) and the names of sensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/sensors.h"

namespace hostwire {

struct SensorFile {
  SensorKind kind = SensorKind::kTemperature;
  unsigned number = 0;
  bool isAverage = false;  // a power's average, which may exist beside the momentary value
  friend bool operator==(const SensorFile&, const SensorFile&) = default;
};

// Parses "temp1_input", "fan2_input", "in0_input", "power1_input", "power1_average"; nothing for any other
// name.
std::optional<SensorFile> parseSensorFileName(std::string_view name);

// Returns the beginning of the sensor's file names: "temp1", "in0", ….
std::string sensorPrefix(SensorKind kind, unsigned number);

// Converts to °C from m°C, RPM, V from mV, W from µW. Nothing for a value that no part of a computer can
// have, as chips report without a connected probe.
std::optional<double> parseSensorValue(SensorKind kind, std::string_view text);

// Removes blanks at the ends and reduces others to single ones: vendors pad models and labels.
std::string cleanName(std::string_view text);

struct ChipNames {
  std::string name;    // of the driver or the drive: several chips may have the same
  std::string place;   // of the device: "coretemp.0", "0000:01:00.0", "sda"; empty without a device
  std::string driver;  // the chip's own name for itself
  std::string device;  // the last two parts of its path; several chips of one device have the same
  std::string inputs;  // the files and labels of its sensors, as text
};

// Neither function depends on the numbers of the chips (hwmon0, hwmon1), which differ between boots: equal
// names are numbered in the order of all other facts about the chips. Only chips that are equal in all of
// them, such as those of the equal radios of one Wi-Fi card, are numbered in the order of the list.

// Returns the display name of each chip: its name, with its place if another one has the same name.
std::vector<std::string> nameChips(const std::vector<ChipNames>& chips);

// Returns the identity of each chip: its device, with its driver if another one has the same device. Empty
// without a device.
std::vector<std::string> identifyChips(const std::vector<ChipNames>& chips);

struct InputNames {
  std::string prefix;  // "temp1"
  std::string label;   // empty where the chip gives none
};

// Returns the display name of each input of one chip: its label, otherwise its prefix; both if labels repeat.
std::vector<std::string> nameInputs(const std::vector<InputNames>& inputs);

}  // namespace hostwire
