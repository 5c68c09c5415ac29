// Finds the sensors that measure the processor and reads the best of them.
#include "linux/cpu/temperature.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "host/error.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"

namespace hostwire {
namespace {

// Time between searches: a driver may be loaded after the service started.
constexpr std::chrono::seconds kSensorInterval{60};

}  // namespace

bool CpuTemperature::isDiscoveryDue() const {
  if (!discoveredAt_ || hasLostOne_) return true;
  const bool hasChip = hasSensor() && sources_.begin()->first.first == SensorRank::kProcessorChip;
  if (hasChip) return false;
  return std::chrono::steady_clock::now() - *discoveredAt_ >= kSensorInterval;
}

void CpuTemperature::discover() {
  sources_.clear();
  const std::string hwmon = sys_ + "/class/hwmon/";
  for (const std::string& name : listFolder(hwmon)) addHwmonChip(hwmon + name);
  addThermalZones();
  discoveredAt_ = std::chrono::steady_clock::now();
  hasLostOne_ = false;
}

// Documentation/hwmon/sysfs-interface.rst: tempN_input in millidegrees, tempN_label names what it measures.
void CpuTemperature::addHwmonChip(const std::string& folder) {
  const std::string chip = readSmallFile(folder + "/name");
  const auto rank = rankHwmonChip(chip);
  constexpr std::string_view kInput = "_input";
  for (const std::string& name : listFolder(folder)) {
    if (!name.starts_with("temp") || !name.ends_with(kInput)) continue;
    std::string path = folder;
    path.append("/").append(name, 0, name.size() - kInput.size());
    const std::string label = readSmallFile(path + "_label");
    if (!rank && isProcessorLabel(label))
      sources_[{SensorRank::kLabelledInput, 0}].emplace_back(path + std::string(kInput));
    const auto inputRank = rank ? rankInput(chip, label) : std::nullopt;
    if (inputRank) sources_[{*rank, *inputRank}].emplace_back(path.append(kInput));
  }
}

// Documentation/driver-api/thermal/sysfs-api.rst: cdevN links to a cooling device of the zone.
void CpuTemperature::addThermalZones() {
  const std::string thermal = sys_ + "/class/thermal/";
  const auto supplies = listFolder(sys_ + "/class/power_supply");  // a battery's zone has its name
  std::size_t count = 0;
  std::string unknown;
  for (const std::string& name : listFolder(thermal)) {
    if (!name.starts_with("thermal_zone")) continue;
    const std::string folder = thermal + name;
    const std::string type = readSmallFile(folder + "/type");
    auto rank = rankThermalZone(type);
    if (!rank && (isOtherPart(type) || std::binary_search(supplies.begin(), supplies.end(), type))) continue;
    ++count;
    if (!rank) {
      const auto files = listFolder(folder);
      const bool isCooled = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        if (!file.starts_with("cdev")) return false;
        std::string path = folder;
        path.append("/").append(file).append("/type");
        return isProcessorCooler(readSmallFile(path));
      });
      if (isCooled) rank = SensorRank::kCooledZone;
    }
    if (rank)
      sources_[{*rank, 0}].emplace_back(folder + "/temp");
    else
      unknown = folder;
  }
  if (count == 1 && !unknown.empty()) sources_[{SensorRank::kLoneZone, 0}].emplace_back(unknown + "/temp");
}

// Chips that belong to zones are read the same way.
std::optional<double> CpuTemperature::readOne(KeptFile& file, bool isChip) {
  try {
    const auto text = file.read(buffer_);
    return isChip ? parseMillidegrees(text) : parseZoneTemperature(text);
  } catch (const HostError& error) {
    // EIO, ENODATA and EAGAIN are temporary; a removed device returns, if at all, under another name.
    const int code = error.code().value();
    hasLostOne_ = hasLostOne_ || code == ENODEV || code == ENOENT;
    return std::nullopt;
  }
}

std::optional<double> CpuTemperature::read() {
  if (isDiscoveryDue()) discover();
  for (auto& [key, files] : sources_) {
    std::optional<double> hottest;
    for (KeptFile& file : files) {
      const auto value = readOne(file, key.first == SensorRank::kProcessorChip);
      if (value) hottest = std::max(*value, hottest.value_or(*value));
    }
    if (hottest) return hottest;
  }
  return std::nullopt;
}

Finding describeTemperature(const std::string& sys, std::optional<double> celsius) {
  const std::string source = sys + "/class/hwmon and " + sys + "/class/thermal";
  if (!celsius)
    return Finding::missing("temperature", source,
                            {"no sensor there measures the processor, as is usual in virtual machines",
                             "load the driver of its sensor: coretemp (Intel), k10temp (AMD)"});
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f °C from ", *celsius));
  return Finding::works("temperature", text.data() + source);
}

}  // namespace hostwire
