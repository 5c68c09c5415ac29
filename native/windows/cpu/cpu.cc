// Processor times from the kernel; the speed from a prober. Windows has no load average, no pressure, and no
// temperature that a program can read without its own driver.
#include "host/cpu.h"

#include <chrono>
#include <string>

#include "host/prober.h"
#include "host/recent.h"
#include "windows/cpu/speed.h"
#include "windows/win32/processor_times.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <winternl.h>

namespace hostwire {
namespace {

constexpr auto kProcessorPerformance = static_cast<SYSTEM_INFORMATION_CLASS>(8);
constexpr std::uint32_t kGroupSize = 64;

// Takes a group number as input: processors beyond the first 64 are in separate groups (Windows 7).
using QueryEx = LONG(WINAPI*)(ULONG, void*, ULONG, void*, ULONG, ULONG*);

}  // namespace

struct CpuReader::State {
  explicit State(ProberPool& probers)
      : speed(probers, [source = std::make_shared<CpuSpeed>()] { return source->read(); }) {}

  void readGroup(std::uint16_t group, bool isOnly);

  const QueryEx queryEx = findFunction<QueryEx>(L"ntdll.dll", "NtQuerySystemInformationEx");
  std::vector<ProcessorTimes> processors;  // of one group
  Prober<CpuSpeeds> speed;
};

void CpuReader::State::readGroup(std::uint16_t group, bool isOnly) {
  // A buffer that is too small is refused without reporting the required size.
  processors.resize(GetActiveProcessorCount(group));
  const auto bytes = static_cast<ULONG>(processors.size() * sizeof(ProcessorTimes));
  ULONG written = 0;
  LONG status = -1;
  if (!isOnly && queryEx != nullptr)
    status = queryEx(kProcessorPerformance, &group, sizeof group, processors.data(), bytes, &written);
  // This call reports the group that this thread runs in.
  if (status < 0 && (isOnly || group == 0))
    status = NtQuerySystemInformation(kProcessorPerformance, processors.data(), bytes, &written);
  if (status < 0) throw win32Error(RtlNtStatusToDosError(status), "NtQuerySystemInformation");
  processors.resize(written / sizeof(ProcessorTimes));
}

CpuReader::CpuReader(const Roots&, ProberPool& probers) : state_(std::make_unique<State>(probers)) {}
CpuReader::~CpuReader() = default;

CpuCounters CpuReader::read(bool withDetail) {
  State& state = *state_;
  CpuCounters counters;
  const WORD groups = GetActiveProcessorGroupCount();
  for (WORD group = 0; group < groups; ++group) {
    state.readGroup(group, groups == 1);
    for (std::uint32_t at = 0; at < state.processors.size(); ++at) {
      const CpuTimes times = timesOf(state.processors[at]);
      add(counters.total, times);
      if (withDetail) counters.cores.push_back({group * kGroupSize + at, times});
    }
  }
  const auto speed = recentValue(state.speed.latest());
  if (!speed) return counters;
  counters.speedHz = speed->meanHz;
  // Only with one speed per core, in the same order: otherwise they cannot be matched.
  if (withDetail && speed->coresHz.size() == counters.cores.size())
    counters.coreSpeedsHz.assign(speed->coresHz.begin(), speed->coresHz.end());
  return counters;
}

Findings CpuReader::describe() {
  const std::string source = "NtQuerySystemInformation";
  CpuCounters counters;
  auto findings = describeOrExplain("cpu", source, [&]() -> Findings {
    counters = read(true);
    return {Finding::works("cpu", countOf(counters.cores.size(), "processor") + " from " + source)};
  });
  findings.push_back(describeSpeed(counters.speedHz));
  return findings;
}

}  // namespace hostwire
