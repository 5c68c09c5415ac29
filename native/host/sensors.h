// Sensors: what the machine's chips measure of temperatures, fans, voltages and powers, asked by probers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

class ProberPool;

enum class SensorKind { kTemperature, kFan, kVoltage, kPower };

// All texts are valid UTF-8.
struct SensorCounters {
  std::string driver;  // "coretemp", "nvme", "drivetemp"
  std::string chip;    // no two chips have the same
  std::string label;   // begins with the chip; no two sensors have the same
  SensorKind kind = SensorKind::kTemperature;
  std::optional<double> value;  // °C, RPM, V or W; absent when nobody can tell at this moment
  std::string failure;  // why there is no value, where asking failed; a device that sleeps is not asked
};

class SensorsReader {
 public:
  SensorsReader(const Roots& roots, ProberPool& probers);
  ~SensorsReader();
  // Only for detail. Empty until the chips have been looked for, which the first reading sets going.
  std::vector<SensorCounters> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
