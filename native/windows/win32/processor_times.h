// A processor's times in the form of NtQuerySystemInformation(SystemProcessorPerformanceInformation). Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/cpu.h"

namespace hostwire {

// SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION, in 100 ns. Headers differ in its names.
struct ProcessorTimes {
  std::int64_t idle = 0;
  std::int64_t kernel = 0;  // includes idle, dpc and interrupt
  std::int64_t user = 0;
  std::int64_t dpc = 0;
  std::int64_t interrupt = 0;
  std::uint32_t interrupts = 0;
};
static_assert(sizeof(ProcessorTimes) == 48);

inline CpuTimes timesOf(const ProcessorTimes& raw) {
  const auto count = [](std::int64_t value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value));
  };
  CpuTimes times;
  times.user = count(raw.user);
  times.idle = count(raw.idle);
  times.irq = count(raw.dpc) + count(raw.interrupt);
  const std::uint64_t elsewhere = times.idle + times.irq;
  times.system = count(raw.kernel) - std::min(count(raw.kernel), elsewhere);
  return times;
}

inline void add(CpuTimes& sum, const CpuTimes& one) {
  sum.user += one.user;
  sum.system += one.system;
  sum.idle += one.idle;
  sum.irq += one.irq;
}

}  // namespace hostwire
