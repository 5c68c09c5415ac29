// Parsers of the /proc files that are read with every sample (stat, meminfo, arcstats, loadavg, pressure),
// and of single numbers: pure, never throw, accept anything. Values that are missing in a text stay unset.
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

// Parses proc_stat(5): the last `cpu` line and, when `cores` is given, each `cpuN` line. False without a
// `cpu` line.
bool parseStat(std::string_view text, CpuTimes& total, std::vector<CoreTimes>* cores);

// Parses proc_meminfo(5). Kernels before 3.14 have no MemAvailable: then free + page cache + reclaimable
// slab, less shared memory. Nothing without MemTotal, if it is 0, or if neither MemAvailable nor MemFree is
// known.
std::optional<MemoryCounters> parseMeminfo(std::string_view text);

// Parses arcstats of OpenZFS: the bytes of its cache above the size that it never shrinks below (c_min).
// Nothing if one of the two is missing.
std::optional<std::uint64_t> parseShrinkableArc(std::string_view text);

// Parses proc_uptime(5): the first number, in nanoseconds. Nothing if it is negative or does not fit: lxcfs
// has computed such numbers.
std::optional<std::int64_t> parseUptime(std::string_view text);

// Removes a number of KiB, and returns it in bytes. Nothing if it is negative, also as an unsigned number,
// which lxcfs writes where a container uses more than it may: no machine has an exbibyte.
std::optional<std::uint64_t> takeKib(std::string_view& text);

// Parses proc_loadavg(5): the first three numbers.
std::optional<std::array<double, 3>> parseLoadavg(std::string_view text);

// Parses /proc/pressure/*: avg10 of both lines; `full` is 0 if the kernel has no such line (cpu before 5.13).
std::optional<Pressure> parsePressure(std::string_view text);

// Parses a single whole number, as in sysfs files; surrounding white space is ignored.
std::optional<std::int64_t> parseInteger(std::string_view text);

// Parses FDSize of proc_pid_status(5), which is above every descriptor of the process and never shrinks.
std::optional<int> parseDescriptorTableSize(std::string_view text);

// Returns degrees Celsius from a sensor's millidegrees. Nothing if the value cannot be a processor's: -50 °C
// and less, more than 150 °C, and exactly 0, which firmware and drivers report when they cannot measure.
std::optional<double> parseMillidegrees(std::string_view text);

// The same for a thermal zone, for which some vendors' kernels report whole degrees (Allwinner's: "45"): no
// processor is within 0.15 °C of freezing.
std::optional<double> parseZoneTemperature(std::string_view text);

}  // namespace hostwire
