// Windows has no sensors that a program without a driver of its own can read: none are told of. ACPI's
// thermal zones, which some machines show, measure the board rather than the processor.
#include "host/sensors.h"

namespace hostwire {

struct SensorsReader::State {};
SensorsReader::SensorsReader(const Roots&, ProberPool&) {}
SensorsReader::~SensorsReader() = default;
std::vector<SensorCounters> SensorsReader::read() { return {}; }

}  // namespace hostwire
