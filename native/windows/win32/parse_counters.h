// The names of performance counter instances, and sums over them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

struct CounterInstance {
  std::string name;  // "0,1", "pid_88_luid_0x00000000_0x0000C4D1_phys_0_eng_0_engtype_3D"
  double value = 0;
};

// Returns the values of the instances "NODE,INDEX" of Processor Information in that order, which is the
// processors' own, without the totals. Never negative or infinite.
std::vector<double> corePercentages(const std::vector<CounterInstance>& instances);

// The graphics processor, and its part, to which an instance of GPU Engine or GPU Adapter Memory belongs.
struct GpuInstance {
  std::uint64_t luid = 0;  // the high part in the high half
  std::uint32_t part = 0;  // "phys": the number among linked ones
  std::optional<std::uint32_t> engine;
};
std::optional<GpuInstance> parseGpuInstance(std::string_view name);

// Sums by LUID. The load is that of the busiest engine, as in Task Manager: the sum over its clients, at most
// 100.
std::map<std::uint64_t, double> sumGpuLoads(const std::vector<CounterInstance>& engines);
std::map<std::uint64_t, std::uint64_t> sumGpuBytes(const std::vector<CounterInstance>& memories);

}  // namespace hostwire
