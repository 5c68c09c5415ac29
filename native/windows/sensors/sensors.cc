// Reports no sensors: Windows has none that a program can read without its own driver. ACPI's thermal zones,
// which some machines show, measure the board rather than the processor.
#include "host/sensors.h"

namespace hostwire {

struct SensorsReader::State {};
SensorsReader::SensorsReader(const Roots&, ProberPool&) {}
SensorsReader::~SensorsReader() = default;
std::vector<SensorCounters> SensorsReader::read() { return {}; }

Findings SensorsReader::describe() {
  return {Finding::missing(
      "sensors", "no temperature, fan, voltage or power",
      {"Windows shows the sensors of the processor and the board to kernel drivers only", ""})};
}

}  // namespace hostwire
