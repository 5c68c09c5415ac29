// Processors: cpuinfo, cpu lists, sensor names and values.
#include "linux/cpu/parse_cpu.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

std::string_view trim(std::string_view text) {
  skipBlanks(text);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Splits "key<tabs>: value".
bool splitField(std::string_view line, std::string_view& key, std::string_view& value) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  key = trim(line.substr(0, colon));
  value = trim(line.substr(colon + 1));
  return true;
}

std::optional<std::uint64_t> parseNumber(std::string_view text) {
  const bool isHexadecimal = text.starts_with("0x");
  if (isHexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, isHexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parseIndex(std::string_view text) {
  const auto value = parseNumber(text);
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

void keepFirst(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

void addPart(std::vector<std::uint64_t>& parts, std::optional<std::uint64_t> part) {
  constexpr std::size_t kMaxParts = 8;  // no machine combines more core designs
  if (!part || parts.size() == kMaxParts) return;
  if (std::find(parts.begin(), parts.end(), *part) == parts.end()) parts.push_back(*part);
}

void takeMachineField(Cpuinfo& info, std::string_view key, std::string_view value) {
  if (key == "vendor_id")
    keepFirst(info.vendorId, value);
  else if (key == "model name" || key == "Model Name")
    keepFirst(info.modelName, value);
  else if (key == "Hardware")
    keepFirst(info.hardware, value);
  else if (key == "Model")
    keepFirst(info.board, value);
  else if (key == "uarch")
    keepFirst(info.microarchitecture, value);
  else if (key == "cpu" || key == "cpu model")
    keepFirst(info.processorName, value);
  else if (key == "CPU part")
    addPart(info.parts, parseNumber(value));
  else if (key == "CPU implementer" && !info.implementer)
    info.implementer = parseNumber(value);
}

// Returns whether this key precedes the fields of one processor; "cpu number" is s390's.
bool isIndexKey(std::string_view key) { return key == "processor" || key == "cpu number"; }

// Returns whether a line may be needed for the speeds: most of the text's lines are not.
bool mayBeOfSpeed(std::string_view line) {
  return line.starts_with("processor") || line.starts_with("cpu ") || line.starts_with("CPU MHz") ||
         line.starts_with("clock");
}

// Returns Hz.
std::optional<double> parseSpeed(std::string_view key, std::string_view value) {
  const auto number = takeDouble(value);
  if (!number) return std::nullopt;
  if (key == "cpu MHz" || key == "CPU MHz" || key == "cpu MHz dynamic") return *number * 1e6;
  if (key != "clock") return std::nullopt;
  if (value == "MHz") return *number * 1e6;
  return value == "GHz" ? std::optional(*number * 1e9) : std::nullopt;
}

// Converts to lower case, with '-' and '_' treated alike: a zone "cpu-thermal" is the hwmon chip
// "cpu_thermal".
std::string normalise(std::string_view name) {
  std::string normal(name);
  for (char& c : normal) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return normal;
}

// Returns whether a board uses this name for it: cpu_thermal, cpu0_thermal, cpuss0_thermal, mtktscpu,
// CPU-therm, package_thermal.
bool isProcessorName(std::string_view normal) {
  return normal.find("cpu") != std::string_view::npos || normal == "package_thermal";
}

// Returns whether the name is that of a cluster of cores, or of the chip as a whole.
bool isSystemOnChipName(std::string_view normal) {
  return normal.starts_with("soc") || normal.starts_with("bigcore") || normal.starts_with("littlecore") ||
         normal.starts_with("cluster");
}

}  // namespace

std::vector<CoreSpeed> parseCpuinfoSpeeds(std::string_view text) {
  std::vector<CoreSpeed> speeds;
  std::optional<std::uint32_t> index;
  const std::size_t end = text.rfind('\n');
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  std::string_view line, key, value;
  while (takeLine(text, line)) {
    if (!mayBeOfSpeed(line) || !splitField(line, key, value)) continue;
    if (isIndexKey(key)) {
      index = parseIndex(value);
      continue;
    }
    const auto hz = parseSpeed(key, value);
    if (index && hz && *hz > 0) speeds.push_back({*index, *hz});
  }
  return speeds;
}

Cpuinfo parseCpuinfo(std::string_view text) {
  Cpuinfo info;
  std::string_view line, key, value;
  while (takeLine(text, line)) {
    if (!splitField(line, key, value)) continue;
    if (isIndexKey(key)) {
      const auto index = parseIndex(value);
      if (index) info.processors.push_back({*index, std::nullopt, std::nullopt});
    } else if (key == "physical id" && !info.processors.empty()) {
      info.processors.back().packageId = parseNumber(value);
    } else if (key == "core id" && !info.processors.empty()) {
      info.processors.back().coreId = parseNumber(value);
    } else {
      takeMachineField(info, key, value);
    }
  }
  return info;
}

std::vector<std::uint32_t> parseCpuList(std::string_view text) {
  constexpr std::uint64_t kMaxIndex = 65'535;
  std::vector<std::uint32_t> indexes;
  while (const auto first = takeUnsigned(text)) {
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = takeUnsigned(text);
    }
    if (!last || *last > kMaxIndex || *first > *last) return indexes;
    for (auto index = *first; index <= *last && indexes.size() <= kMaxIndex; ++index)
      indexes.push_back(static_cast<std::uint32_t>(index));
    if (!text.starts_with(',')) return indexes;
    text.remove_prefix(1);
  }
  return indexes;
}

// Apple's system management controller: the driver is macsmc_hwmon, and some kernels spell it with a hyphen.
constexpr std::string_view kAppleChip = "macsmc_hwmon";

std::optional<SensorRank> rankHwmonChip(std::string_view name) {
  constexpr std::array<std::string_view, 5> kProcessorDrivers{"coretemp", "k10temp", "zenpower", "k8temp",
                                                              "via_cputemp"};
  if (std::find(kProcessorDrivers.begin(), kProcessorDrivers.end(), name) != kProcessorDrivers.end())
    return SensorRank::kProcessorChip;
  // A driver's chip may have "cpu" in its name for another reason (a fan controller's); a zone's name ends
  // like this.
  const std::string normal = normalise(name);
  if (normal == kAppleChip) return SensorRank::kSystemOnChip;
  if (normal == "sfctemp" || normal == "ltq_cputemp") return SensorRank::kProcessorThermal;
  if (!normal.ends_with("thermal") && !normal.ends_with("therm")) return std::nullopt;
  if (isProcessorName(normal)) return SensorRank::kProcessorThermal;
  if (isSystemOnChipName(normal)) return SensorRank::kSystemOnChip;
  return std::nullopt;
}

std::optional<SensorRank> rankThermalZone(std::string_view type) {
  const std::string normal = normalise(type);
  if (normal == "x86_pkg_temp") return SensorRank::kPackageZone;
  if (isProcessorName(normal)) return SensorRank::kProcessorZone;
  if (isSystemOnChipName(normal)) return SensorRank::kSystemOnChipZone;
  if (normal == "acpitz") return SensorRank::kAcpiZone;
  return std::nullopt;
}

std::optional<std::size_t> rankInput(std::string_view chip, std::string_view label) {
  constexpr std::array<std::string_view, 6> kPreferred{"Package id", "Physical id", "Tdie",
                                                       "Tctl",       "CPU",         "SoC"};
  for (std::size_t rank = 0; rank < kPreferred.size(); ++rank)
    if (label.starts_with(kPreferred[rank])) return rank;
  // Apple's other sensors are those of the battery, the flash memory, the Wi-Fi module.
  if (normalise(chip) == kAppleChip) return std::nullopt;
  return kPreferred.size();
}

bool isProcessorLabel(std::string_view label) {
  const std::string normal = normalise(label);
  const auto isLetter = [&](std::size_t at) {
    return at < normal.size() && std::isalpha(static_cast<unsigned char>(normal[at])) != 0;
  };
  const auto hasWord = [&](std::string_view word) {
    for (auto at = normal.find(word); at != std::string::npos; at = normal.find(word, at + 1))
      if ((at == 0 || !isLetter(at - 1)) && !isLetter(at + word.size())) return true;
    return false;
  };
  constexpr std::array<std::string_view, 3> kProcessor{"cpu", "core", "soc"};
  constexpr std::array<std::string_view, 5> kBeside{"gpu", "vrm", "vr", "mos", "fan"};
  return std::any_of(kProcessor.begin(), kProcessor.end(), hasWord) &&
         std::none_of(kBeside.begin(), kBeside.end(), hasWord);
}

bool isProcessorCooler(std::string_view type) {
  constexpr std::array<std::string_view, 4> kCoolers{"cpufreq-", "thermal-cpufreq-", "idle-cpu",
                                                     "thermal-idle-"};
  return std::any_of(kCoolers.begin(), kCoolers.end(),
                     [&](std::string_view start) { return type.starts_with(start); });
}

bool isOtherPart(std::string_view zoneType) {
  constexpr std::array<std::string_view, 24> kOthers{
      "gpu",   "npu", "vpu", "dsp", "ddr", "dram",  "mem", "nvme",  "wifi", "wlan", "ath1",  "mt7",
      "modem", "mlx", "phy", "sfp", "pch", "int34", "bat", "charg", "pmic", "skin", "board", "ambient"};
  const std::string normal = normalise(zoneType);
  return std::any_of(kOthers.begin(), kOthers.end(),
                     [&](std::string_view part) { return normal.find(part) != std::string::npos; });
}

bool isPackageZone(std::string_view folderName, std::string_view zoneName) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  if (!folderName.starts_with(kPrefix)) return false;
  folderName.remove_prefix(kPrefix.size());
  return !folderName.empty() && folderName.find_first_not_of("0123456789") == std::string_view::npos &&
         zoneName.starts_with("package");
}

}  // namespace hostwire
