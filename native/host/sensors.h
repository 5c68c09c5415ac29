// Sensors: temperatures, fans, voltages and powers measured by the machine's chips, asked by probers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

enum class SensorKind { kTemperature, kFan, kVoltage, kPower };

// All texts are valid UTF-8.
struct SensorCounters {
  std::string driver;  // "coretemp", "nvme", "drivetemp"
  std::string chip;    // unique
  std::string label;   // begins with the chip; unique
  // The system's own names: the device "platform/coretemp.0" (with the driver if several chips belong to one
  // device: "platform/asus-nb-wmi/asus"; unique per chip), the value's file "temp1_input" and the sensor's
  // own label "Core 0". Empty if absent.
  std::string device, file, ownLabel;
  SensorKind kind = SensorKind::kTemperature;
  std::optional<double> value;  // °C, RPM, V or W; absent when it cannot be read now
  std::string failure;  // why `value` is empty, where asking failed; a device that is asleep is not asked
};

class SensorsReader {
 public:
  SensorsReader(const Roots& roots, ProberPool& probers);
  ~SensorsReader();
  // Reads them; only for detail. Empty until the first search for chips, which the first reading starts, has
  // ended.
  std::vector<SensorCounters> read();
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
