// The processor's temperature, clock speed and energy, asked by probers: they can be slow, and a sensor can
// hang.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "host/cpu.h"
#include "host/prober.h"
#include "host/roots.h"
#include "linux/cpu/parse_cpu.h"

namespace hostwire {

struct TemperatureReading {
  std::optional<double> celsius;
  bool hasSensor = false;
};

class CpuSensors {
 public:
  CpuSensors(const Roots& roots, ProberPool& probers);
  // Fills temperatureCelsius, speedHz and, with detail, energy and coreSpeedsHz (in the order of
  // `counters.cores`).
  void read(CpuCounters& counters, bool withDetail);
  // Returns the rows about these values in `counters`, a reading with detail.
  Findings describe(const CpuCounters& counters) const;

 private:
  std::optional<double> readTemperature();

  const Roots roots_;
  Prober<TemperatureReading> temperature_;
  std::chrono::steady_clock::time_point temperatureRestsUntil_;
  Prober<std::vector<CoreSpeed>> someSpeeds_;
  Prober<std::vector<CoreSpeed>> allSpeeds_;
  Prober<EnergyReading> energy_;
};

}  // namespace hostwire
