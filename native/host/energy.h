// Energy used by the processor's packages: counters; two readings yield a power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostwire {

struct EnergyZone {
  std::string name;  // "package-0"
  std::uint64_t microjoules = 0;
  std::uint64_t rangeMicrojoules = 0;  // the counter wraps to 0 above this
};

struct EnergyReading {
  std::int64_t takenAtNs = 0;  // on the clock of ClockReading::monotonicNs
  std::vector<EnergyZone> zones;
  std::string failure;  // why some of them cannot be read; also empty where no package has a counter
};

}  // namespace hostwire
