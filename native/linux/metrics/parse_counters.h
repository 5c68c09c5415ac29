// The kernel's counters as families of metrics: pure functions of the kernel's texts, which never throw,
// whatever is in them. Malformed lines are left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "host/exposition.h"

namespace hostwire {

// More than any kernel has.
inline constexpr std::size_t kMaxProcessors = 8192;

// The last written times of each processor. The kernel's idle and iowait may step back a little
// (proc_stat(5)), which Prometheus would take for a restart of the counter, and add all of it to a rate.
class SteadyTimes {
 public:
  // user, nice, system, idle, iowait, irq, softirq, steal, guest and guest_nice, in ticks.
  static constexpr std::size_t kCount = 10;
  using Ticks = std::array<std::uint64_t, kCount>;

  // Returns `now`, with the last value for each time that was slightly higher.
  const Ticks& advance(std::uint64_t processor, const Ticks& now);

 private:
  std::unordered_map<std::uint64_t, Ticks> last_;
};

// Writes proc_stat(5). `bootedAt`: replaces btime if the machine is a container with a start of its own.
void writeStat(std::string_view text, std::optional<std::uint64_t> bootedAt, SteadyTimes& times,
               Exposition& out);
// Writes proc_loadavg(5).
void writeLoad(std::string_view text, Exposition& out);
// Writes proc_meminfo(5), except for impossible values (takeKib).
void writeMemory(std::string_view text, Exposition& out);
// Writes Documentation/accounting/psi.rst. `resource`: "cpu", "io", "memory" or "irq".
void writePressure(std::string_view resource, std::string_view text, Exposition& out);
// Writes proc_vmstat(5): paging, faults and kills for lack of memory.
void writeVmstat(std::string_view text, Exposition& out);
// Writes /proc/sys/fs/file-nr.
void writeFileDescriptors(std::string_view text, Exposition& out);
// Writes os-release(5).
void writeOs(std::string_view text, Exposition& out);

}  // namespace hostwire
