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
  const std::string thermal = sys_ + "/class/thermal/";
  for (const std::string& name : listFolder(thermal))
    if (name.starts_with("thermal_zone")) addThermalZone(thermal + name);
  discoveredAt_ = std::chrono::steady_clock::now();
  hasLostOne_ = false;
}

// Documentation/hwmon/sysfs-interface.rst: tempN_input in millidegrees, tempN_label names what it measures.
void CpuTemperature::addHwmonChip(const std::string& folder) {
  const std::string chip = readSmallFile(folder + "/name");
  const auto rank = rankHwmonChip(chip);
  if (!rank) return;
  constexpr std::string_view kInput = "_input";
  for (const std::string& name : listFolder(folder)) {
    if (!name.starts_with("temp") || !name.ends_with(kInput)) continue;
    std::string path = folder;
    path.append("/").append(name, 0, name.size() - kInput.size());
    const auto inputRank = rankInput(chip, readSmallFile(path + "_label"));
    if (inputRank) sources_[{*rank, *inputRank}].emplace_back(path.append(kInput));
  }
}

void CpuTemperature::addThermalZone(const std::string& folder) {
  const auto rank = rankThermalZone(readSmallFile(folder + "/type"));
  if (rank) sources_[{*rank, 0}].emplace_back(folder + "/temp");
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
