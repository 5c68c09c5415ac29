// The limits of the job that this process is in; a container of Windows is one.
#include "host/resource_limits.h"

#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// Added in Windows 10, and missing in mingw's headers: JobObjectMemoryUsageInformation.
constexpr auto kMemoryUsage = static_cast<JOBOBJECTINFOCLASS>(28);
struct MemoryUsage {
  ULONG64 jobBytes = 0;
  ULONG64 peakBytes = 0;
};

// Reads the limits of the innermost job, if jobs are nested.
template <class Information>
bool query(JOBOBJECTINFOCLASS about, Information& information) {
  return QueryInformationJobObject(nullptr, about, &information, sizeof information, nullptr) != 0;
}

void readMemory(LimitCounters& counters) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (!query(JobObjectExtendedLimitInformation, limits)) throw lastError("QueryInformationJobObject");
  if ((limits.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) == 0) return;
  counters.memoryBytes = limits.JobMemoryLimit;
  MemoryUsage usage;
  if (query(kMemoryUsage, usage)) counters.memoryUsedBytes = usage.jobBytes;
}

// A rate is in hundredths of a percent of all processors.
void readCpu(LimitCounters& counters) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
  if (!query(JobObjectCpuRateControlInformation, rate)) return;
  constexpr DWORD kHardCap = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if ((rate.ControlFlags & kHardCap) != kHardCap) return;
  counters.cpus = rate.CpuRate / 10'000.0 * GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

}  // namespace

struct LimitsReader::State {};
LimitsReader::LimitsReader(const Roots&, ProberPool&) {}
LimitsReader::~LimitsReader() = default;

std::optional<LimitCounters> LimitsReader::read() {
  BOOL isInJob = FALSE;
  if (IsProcessInJob(GetCurrentProcess(), nullptr, &isInJob) == 0) throw lastError("IsProcessInJob");
  LimitCounters counters;
  if (isInJob == FALSE) return counters;
  readMemory(counters);
  readCpu(counters);
  return counters;
}

Findings LimitsReader::describe() {
  const std::string call = "QueryInformationJobObject";
  return describeOrExplain("resource-limits", call, [&]() -> Findings {
    const auto limits = read();
    const bool isLimited = limits && (limits->memoryBytes || limits->cpus);
    return {
        Finding::works("resource-limits", (isLimited ? "those of its job, from " : "none, from ") + call)};
  });
}

}  // namespace hostwire
