// Processor counters: time spent since boot, load average, pressure, temperature and clock speed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/energy.h"
#include "host/finding.h"
#include "host/pressure.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

// Times since boot, in ticks of any constant length: only ratios are used. Guest time is included in user and
// nice, as Linux reports it; softirq is included in irq.
struct CpuTimes {
  std::uint64_t user = 0;
  std::uint64_t nice = 0;
  std::uint64_t system = 0;
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;
  std::uint64_t irq = 0;
  std::uint64_t steal = 0;
};

struct CoreTimes {
  std::uint32_t index = 0;  // the system's number of the logical processor; there may be gaps
  CpuTimes times;
};

struct CpuCounters {
  CpuTimes total;
  std::vector<CoreTimes> cores;  // online ones only; empty without detail
  std::optional<std::array<double, 3>> loadAverage;
  std::optional<Pressure> pressure;
  std::optional<double> temperatureCelsius;
  std::optional<double> speedHz;                    // mean over the online cores
  std::vector<std::optional<double>> coreSpeedsHz;  // beside `cores`; empty when no core's speed is readable
  std::optional<EnergyReading> energy;              // only with detail
};

class CpuReader {
 public:
  CpuReader(const Roots& roots, ProberPool& probers);
  ~CpuReader();
  CpuCounters read(bool withDetail);
  // Returns the rows of `hostwire doctor`, from a reading with detail. Values from probers are missing in the
  // first rows.
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
