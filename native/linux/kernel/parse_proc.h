// Parsers of the /proc files that are read with every sample (stat, meminfo, arcstats, loadavg, pressure),
// and of single numbers: pure, never throw, accept anything. What they do not find stays unset.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/cpu.h"
#include "host/memory.h"
#include "host/pressure.h"

namespace hostwire {

// proc_stat(5): the `cpu` line and, when `cores` is given, each `cpuN` line. False without a `cpu` line.
bool parseStat(std::string_view text, CpuTimes& total, std::vector<CoreTimes>* cores);

// proc_meminfo(5). Kernels before 3.14 have no MemAvailable: then free + page cache + reclaimable slab, less
// shared memory. Nothing without MemTotal, where it is 0, and where neither MemAvailable nor MemFree is
// known.
std::optional<MemoryCounters> parseMeminfo(std::string_view text);

// arcstats of OpenZFS: the bytes of its cache above the size that it never shrinks below (c_min). Nothing
// where one of the two is missing.
std::optional<std::uint64_t> parseShrinkableArc(std::string_view text);

// proc_uptime(5): the first number, in nanoseconds. Nothing where it is negative, or beyond what fits: lxcfs
// has computed such ones.
std::optional<std::int64_t> parseUptime(std::string_view text);

// Removes a number of KiB, and returns it in bytes. Nothing where it is negative, also as an unsigned number,
// which lxcfs writes where a container uses more than it may: no machine has an exbibyte.
std::optional<std::uint64_t> takeKib(std::string_view& text);

// proc_loadavg(5): the first three numbers.
std::optional<std::array<double, 3>> parseLoadavg(std::string_view text);

// /proc/pressure/*: avg10 of both lines; `full` is 0 where the kernel has no such line (cpu before 5.13).
std::optional<Pressure> parsePressure(std::string_view text);

// A single whole number, as in sysfs files; surrounding white space is ignored.
std::optional<std::int64_t> parseInteger(std::string_view text);

// proc_pid_status(5): FDSize, which is above every descriptor of the process and never shrinks.
std::optional<int> parseDescriptorTableSize(std::string_view text);

// Degrees Celsius from a sensor's millidegrees. Nothing where the value cannot be a processor's: -50 °C and
// less, more than 150 °C, and exactly 0, which firmware and drivers report when they cannot measure.
std::optional<double> parseMillidegrees(std::string_view text);

// The same of a thermal zone, in which some vendors' kernels have whole degrees (Allwinner's: "45"): no
// processor is within 0.15 °C of freezing.
std::optional<double> parseZoneTemperature(std::string_view text);

}  // namespace hostwire
