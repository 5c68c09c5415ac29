// The actual speed is "% Processor Performance" of the nominal speed; CallNtPowerInformation reports the
// nominal one and, on most machines, nothing else.
#include "windows/cpu/speed.h"

#include <cmath>
#include <exception>
#include <string>

#include "windows/win32/parse_counters.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <powrprof.h>

namespace hostwire {
namespace {

// PROCESSOR_POWER_INFORMATION, which some headers lack.
struct ProcessorPower {
  ULONG number;
  ULONG maxMhz;
  ULONG currentMhz;
  ULONG mhzLimit;
  ULONG maxIdleState;
  ULONG currentIdleState;
};
static_assert(sizeof(ProcessorPower) == 24);

// Returns those of the group that this thread runs in; empty if the call fails.
std::vector<ProcessorPower> readPower() {
  std::vector<ProcessorPower> processors(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  const auto bytes = static_cast<ULONG>(processors.size() * sizeof(ProcessorPower));
  if (CallNtPowerInformation(ProcessorInformation, nullptr, 0, processors.data(), bytes) < 0) return {};
  std::erase_if(processors, [](const ProcessorPower& one) { return one.maxMhz == 0; });
  return processors;
}

double meanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

CpuSpeeds CpuSpeed::read() {
  if (!isTried_) {
    isTried_ = true;
    try {
      PdhQuery query({L"\\Processor Information(*)\\% Processor Performance"});
      if (query.hasAny()) query_.emplace(std::move(query));
    } catch (const std::exception&) {
      // Without the library the other source is used.
    }
  }
  const auto power = readPower();
  CpuSpeeds speeds;
  if (power.empty()) return speeds;
  if (query_) {
    query_->collect();
    const auto percentages = corePercentages(query_->values(0));
    for (std::size_t at = 0; at < percentages.size(); ++at) {
      // Cores of two kinds have two nominal speeds.
      const ProcessorPower& own = percentages.size() == power.size() ? power[at] : power.front();
      speeds.coresHz.push_back(own.maxMhz * 1e6 * percentages[at] / 100);
    }
  }
  if (speeds.coresHz.empty())
    for (const ProcessorPower& one : power) speeds.coresHz.push_back(one.currentMhz * 1e6);
  speeds.meanHz = meanOf(speeds.coresHz);
  return speeds;
}

Finding describeSpeed(std::optional<double> hz) {
  const std::string source = "the counters of Processor Information or the power manager";
  if (!hz)
    return Finding::missing("speed", source,
                            {"neither reports clock speeds, as in some virtual machines", ""});
  return Finding::works("speed", std::to_string(std::llround(*hz / 1e6)) + " MHz from " + source);
}

}  // namespace hostwire
