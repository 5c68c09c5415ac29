// Parsers of Linux's facts about processors beyond their times: cpuinfo, cpu lists, sensor names and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

struct CoreSpeed {
  std::uint32_t index = 0;
  double hz = 0;
};

// Parses the clock speeds of proc_cpuinfo(5), which only some architectures have: "cpu MHz" (x86), "CPU MHz"
// (LoongArch), "clock : 3800.000000MHz" (POWER), "cpu MHz dynamic" (s390; "cpu MHz static" is the nominal
// one). A line that is cut off at the end of `text` is ignored, so the head of the file is enough.
std::vector<CoreSpeed> parseCpuinfoSpeeds(std::string_view text);

struct CpuinfoProcessor {
  std::uint32_t index = 0;
  std::optional<std::uint64_t> packageId;
  std::optional<std::uint64_t> coreId;
};

// Fields of proc_cpuinfo(5), whose keys differ between architectures. Texts are as in the kernel.
struct Cpuinfo {
  std::vector<CpuinfoProcessor> processors;
  std::string vendorId;           // x86, s390
  std::string modelName;          // x86, LoongArch; only "ARMv7 Processor rev 4 (v7l)" on 32-bit ARM
  std::string hardware;           // ARM boards: "BCM2711"
  std::string board;              // "Model": "Raspberry Pi 4 Model B Rev 1.4"
  std::string microarchitecture;  // RISC-V: "sifive,u74-mc"
  std::string processorName;      // POWER's "cpu": "POWER9, altivec supported"; MIPS's "cpu model"
  std::optional<std::uint64_t> implementer;  // ARM: the designer of the core
  std::vector<std::uint64_t> parts;          // ARM: the distinct core designs, in order of appearance
};
Cpuinfo parseCpuinfo(std::string_view text);

// Parses "0-3,5" as in /sys/devices/system/cpu/online. Numbers above 65,535 are ignored: no kernel has that
// many.
std::vector<std::uint32_t> parseCpuList(std::string_view text);

// How directly a source measures the processor's temperature; lower is better. Chips are /sys/class/hwmon
// names, zones are /sys/class/thermal types. Nothing for a source that does not measure the processor.
enum class SensorRank {
  kProcessorChip,
  kProcessorThermal,
  kSystemOnChip,
  kPackageZone,
  kProcessorZone,
  kSystemOnChipZone,
  kLabelledInput,  // of any other chip: "CPU Temperature"
  kCooledZone,     // whose cooling device is the processor's
  kLoneZone,       // the only one, apart from those of other parts
  kAcpiZone
};
std::optional<SensorRank> rankHwmonChip(std::string_view name);
std::optional<SensorRank> rankThermalZone(std::string_view type);

// Returns how directly a chip's input of this label (empty where it has none) measures the processor; lower
// is better: the whole package where the driver names one (coretemp), the die (Tdie; on some Ryzens Tctl is
// the same plus an offset for fan control), Tctl, an input with the processor or the system on chip in its
// name, any other. Nothing for the other inputs of Apple's macsmc_hwmon, which measures the whole computer.
std::optional<std::size_t> rankInput(std::string_view chip, std::string_view label);

// Returns whether the label of an input of any other chip names the processor, a core or the system on chip:
// "CPU Temperature", "Core 0", "SoC"; not "CPUTIN", which is a pin that may be unconnected, nor "CPU VRM".
bool isProcessorLabel(std::string_view label);

// Returns whether a cooling device of this type is the processor: "cpufreq-cpu0"
// (drivers/thermal/cpufreq_cooling.c, "thermal-cpufreq-0" before Linux 5.13), "idle-cpu0".
bool isProcessorCooler(std::string_view type);

// Returns whether a zone's type names another part: "iwlwifi_1", "pch_skylake", "INT3400 Thermal".
bool isOtherPart(std::string_view zoneType);

// Returns whether a powercap zone is one whole package: "intel-rapl:0" with the name "package-0".
// "intel-rapl:0:1" is a part of it, "intel-rapl-mmio:0" is the same package again, and "psys" is the
// platform, which includes the package.
bool isPackageZone(std::string_view folderName, std::string_view zoneName);

}  // namespace hostwire
