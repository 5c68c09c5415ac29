// The processor's temperature from hwmon chips and thermal zones.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/finding.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Belongs to one prober's question: used by one thread at a time.
class CpuTemperature {
 public:
  explicit CpuTemperature(std::string sys) : sys_(std::move(sys)) {}
  // Returns degrees Celsius; the hottest of several packages. Nothing if no source answers now.
  std::optional<double> read();
  // Returns whether the last reading found a sensor, which may have been unable to answer.
  bool hasSensor() const { return !sources_.empty(); }

 private:
  bool isDiscoveryDue() const;
  void discover();
  void addHwmonChip(const std::string& folder);
  void addThermalZones();
  std::optional<double> readOne(KeptFile& file, bool isChip);

  std::string sys_;
  std::map<std::pair<SensorRank, std::size_t>, std::vector<KeptFile>> sources_;  // best first
  std::optional<std::chrono::steady_clock::time_point> discoveredAt_;
  bool hasLostOne_ = false;
  std::string buffer_;
};

// Returns the row about the temperature.
Finding describeTemperature(const std::string& sys, std::optional<double> celsius);

}  // namespace hostwire
