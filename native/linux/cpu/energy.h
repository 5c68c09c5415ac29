// The energy counters of the processor's packages.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "host/energy.h"
#include "host/finding.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Belongs to one prober's question: used by one thread at a time.
class CpuEnergy {
 public:
  explicit CpuEnergy(const std::string& sys) : folder_(sys + "/class/powercap/") {}
  EnergyReading read();

 private:
  struct Zone {
    std::string name;
    std::uint64_t rangeMicrojoules = 0;
    KeptFile energy;
  };
  void discover();
  void readZones(EnergyReading& reading);

  const std::string folder_;
  std::vector<Zone> zones_;
  std::optional<std::chrono::steady_clock::time_point> discoveredAt_;
  std::string failure_;  // of the last reading; after a failure nothing is read until the next search
  std::string buffer_;
};

// Returns the row about the energy counters.
Finding describeEnergy(const std::string& sys, const std::optional<EnergyReading>& energy);

}  // namespace hostwire
