// The energy that the processor's packages have used: counters; two readings make a power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostwire {

struct EnergyZone {
  std::string name;  // "package-0"
  std::uint64_t microjoules = 0;
  std::uint64_t rangeMicrojoules = 0;  // above it the counter restarts from 0
};

struct EnergyReading {
  std::int64_t takenAtNs = 0;  // on the clock of ClockReading::monotonicNs
  std::vector<EnergyZone> zones;
  std::string failure;  // why some of them cannot be read; also empty where there are none
};

}  // namespace hostwire
