// hwmon chips: Documentation/hwmon/sysfs-interface.rst and Documentation/ABI/testing/sysfs-class-hwmon.
#include "linux/sensors/hwmon.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "host/error.h"
#include "host/gpu.h"
#include "host/limits.h"
#include "linux/gpu/devices.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/sensors/parse_sensors.h"

namespace hostwire {
namespace {

// Limit for all chips together; above it, files are opened per reading: the process needs descriptors for
// other things.
std::size_t maxKept() {
  constexpr std::uint64_t kMost = 64;
  constexpr std::uint64_t kShare = 16;  // of the descriptors that the process may have
  return std::min(kMost, descriptorLimit().value_or(kMost * kShare) / kShare);
}
// Minimum age of a drive's temperature, which changes slowly. Reading it may keep some models from spinning
// down (Documentation/hwmon/drivetemp.rst), and is a command to an NVMe controller, which leaves its
// low-power state for it.
constexpr std::chrono::seconds kSlowInterval{30};

struct FoundChip {
  ChipNames names;
  SensorChip chip;
};

// Returns the path of a file in a folder.
std::string within(const std::string& folder, std::string_view name) {
  std::string path = folder;
  return path.append("/").append(name);
}

std::string lastPart(const std::string& path) { return toValidUtf8(path.substr(path.rfind('/') + 1)); }

std::string readName(const std::string& path) { return toValidUtf8(cleanName(readSmallFile(path))); }

// Finds the model and the block device of an NVMe or SATA drive. The parent of an NVMe chip is the controller
// nvme0 or, on older kernels, its PCI device; the parent of drivetemp is the SCSI device.
void nameDrive(ChipNames& names, const std::string& device) {
  names.name = readName(device + "/model");
  for (const std::string& controller : listFolder(device + "/nvme")) {
    if (names.name.empty()) names.name = readName(within(device + "/nvme", controller + "/model"));
    names.place = controller;
  }
  for (const std::string& block : listFolder(device + "/block")) names.place = block;
  if (names.place.empty()) names.place = lastPart(linkTarget(device));
  if (names.name.empty()) names.name = names.place.empty() ? names.driver : names.place;
}

// Returns the bus and the name of a chip's device, as the last two parts of its path.
std::string placeOfDevice(const std::string& device) {
  std::array<char, PATH_MAX> path{};
  if (linkTarget(device).empty() || realpath(device.c_str(), path.data()) == nullptr) return {};
  const std::string_view whole(path.data());
  const std::size_t name = whole.rfind('/');
  const std::size_t parent = name == 0 ? 0 : whole.rfind('/', name - 1);
  return toValidUtf8(whole.substr(parent + 1));
}

ChipNames nameChip(const std::string& folder, const SensorChip& chip) {
  const std::string device = folder + "/device";
  ChipNames names;
  names.driver = chip.driver;
  names.device = placeOfDevice(device);
  for (const SensorInput& input : chip.inputs)
    names.inputs.append(lastPart(input.path)).append(1, ' ').append(input.label).append(1, '\n');
  if (chip.isSlow) {
    nameDrive(names, device);
  } else {
    names.name = chip.driver;
    names.place = lastPart(linkTarget(device));
  }
  return names;
}

// Devices that never sleep report "unsupported".
std::string findRuntimeStatus(const std::string& folder) {
  std::string path = folder + "/device/power/runtime_status";
  const std::string state = readSmallFile(path);
  return state.empty() || state == "unsupported" ? std::string{} : path;
}

// Sorted by kind, then number. A power's average says more than its momentary value, which is the spare one.
std::vector<SensorInput> findInputs(const std::string& folder) {
  std::map<std::pair<SensorKind, unsigned>, std::vector<std::string>> files;
  // In alphabetical order: "power1_average" before "power1_input".
  for (const std::string& name : listFolder(folder))
    if (const auto file = parseSensorFileName(name)) files[{file->kind, file->number}].push_back(name);
  std::vector<InputNames> names;
  std::vector<SensorInput> inputs;
  for (const auto& [key, paths] : files) {
    const std::string prefix = sensorPrefix(key.first, key.second);
    const std::string stem = within(folder, prefix);
    names.push_back({prefix, readName(stem + "_label")});
    std::string fault = stem + "_fault";
    if (!isPresent(fault)) fault.clear();
    std::string spare = paths.size() > 1 ? within(folder, paths[1]) : std::string{};
    inputs.push_back({key.first,
                      {},
                      within(folder, paths.front()),
                      std::move(spare),
                      names.back().label,
                      std::move(fault)});
  }
  auto shown = nameInputs(names);
  for (std::size_t at = 0; at < inputs.size(); ++at) inputs[at].name = std::move(shown[at]);
  return inputs;
}

std::optional<FoundChip> findChip(const std::string& classFolder) {
  // Before Linux 3.15 many drivers had their files in the device's folder.
  std::string folder = classFolder;
  std::string name = readName(folder + "/name");
  FoundChip found;
  found.chip.inputs = findInputs(folder);
  if (name.empty()) {
    name = readName(classFolder + "/device/name");
    if (found.chip.inputs.empty()) found.chip.inputs = findInputs(folder += "/device");
  }
  if (found.chip.inputs.empty()) return std::nullopt;
  if (name.empty()) name = lastPart(linkTarget(classFolder + "/device"));
  if (name.empty()) name = lastPart(classFolder);
  found.chip.isSlow = name == "drivetemp" || name == "nvme";
  found.chip.driver = std::move(name);
  found.names = nameChip(classFolder, found.chip);
  found.chip.isZone = found.names.device.starts_with("thermal/thermal_zone");
  found.chip.runtimeStatus = findRuntimeStatus(classFolder);
  if (const auto gpu = findGpuOfChip(classFolder + "/device", folder)) {
    found.chip.gpuFolder = classFolder + "/device";
    found.chip.isIntegratedGpu = gpu->isIntegrated;
  }
  return found;
}

bool comesBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

std::vector<std::string> listChips(const Roots& roots) {
  auto names = listFolder(roots.sys + "/class/hwmon");
  std::sort(names.begin(), names.end(), comesBefore);
  return names;
}

std::vector<SensorChip> findChips(const Roots& roots) {
  std::vector<SensorChip> chips;
  std::vector<ChipNames> names;
  const std::size_t most = maxKept();
  std::size_t kept = 0;
  for (const std::string& name : listChips(roots)) {
    auto found = findChip(roots.sys + "/class/hwmon/" + name);
    if (!found) continue;
    std::size_t files = found->chip.runtimeStatus.empty() ? 0 : 1;
    for (const SensorInput& input : found->chip.inputs)
      files += 1U + (input.spare.empty() ? 0U : 1U) + (input.fault.empty() ? 0U : 1U);
    found->chip.keepsOpen = !found->chip.isSlow && kept + files <= most;
    if (found->chip.keepsOpen) kept += files;
    names.push_back(std::move(found->names));
    chips.push_back(std::move(found->chip));
  }
  auto shown = nameChips(names);
  auto devices = identifyChips(names);
  for (std::size_t at = 0; at < chips.size(); ++at) {
    chips[at].name = std::move(shown[at]);
    chips[at].device = std::move(devices[at]);
  }
  return chips;
}

ChipProbe::ChipProbe(SensorChip chip) : chip_(std::move(chip)), hasAnswered_(chip_.inputs.size()) {
  if (chip_.keepsOpen) kept_ = openFiles();
  if (!chip_.gpuFolder.empty())
    gpuSleep_ = shareGpuSleep(chip_.gpuFolder, chip_.isIntegratedGpu, GpuOptions{}.idleBeforeRest);
}

std::vector<ChipProbe::Files> ChipProbe::openFiles() const {
  std::vector<Files> files;
  files.reserve(chip_.inputs.size());
  for (const SensorInput& input : chip_.inputs) {
    files.push_back({KeptFile(input.path), std::nullopt, std::nullopt});
    if (!input.spare.empty()) files.back().spare.emplace(input.spare);
    if (!input.fault.empty()) files.back().fault.emplace(input.fault);
  }
  return files;
}

// Reading a value would wake the device (Documentation/power/runtime_pm.rst); reading its state does not.
bool ChipProbe::isAsleep() {
  if (chip_.runtimeStatus.empty()) return false;
  if (!chip_.keepsOpen) return readSmallFile(chip_.runtimeStatus).starts_with("suspend");
  if (!runtimeStatus_) runtimeStatus_.emplace(chip_.runtimeStatus);
  return runtimeStatus_->readIfPresent(buffer_).starts_with("suspend");
}

// Returns whether a graphics processor is being left alone so that it can fall asleep.
bool ChipProbe::isResting() { return gpuSleep_ && gpuSleep_->judge() == GpuSleep::State::kResting; }

SensorReading ChipProbe::readFile(SensorKind kind, KeptFile& file) {
  try {
    const auto text = file.read(buffer_);
    if (chip_.isZone && kind == SensorKind::kTemperature) return {parseZoneTemperature(text), false, {}};
    return {parseSensorValue(kind, text), false, {}};
  } catch (const HostError& error) {
    return {std::nullopt, false, error.what()};
  }
}

// A file that exists is the source only if it has answered once, so that one failure does not change what the
// sensor shows.
SensorReading ChipProbe::readOne(std::size_t at, Files& files) {
  if (files.fault && files.fault->readIfPresent(buffer_).starts_with('1'))
    return {std::nullopt, false, "the chip reports that the sensor is faulty"};
  const SensorKind kind = chip_.inputs[at].kind;
  SensorReading reading = readFile(kind, files.value);
  hasAnswered_[at] = hasAnswered_[at] || reading.value;
  if (hasAnswered_[at] || !files.spare) return reading;
  SensorReading spare = readFile(kind, *files.spare);
  spare.isOfSpare = true;
  return spare.value ? spare : reading;
}

std::vector<SensorReading> ChipProbe::read() {
  const auto now = std::chrono::steady_clock::now();
  if (chip_.isSlow && readAt_ && now - *readAt_ < kSlowInterval) return last_;
  std::vector<SensorReading> readings(chip_.inputs.size());
  if (isAsleep()) return readings;
  if (isResting()) return last_.empty() ? readings : last_;
  std::vector<Files> opened;
  if (!chip_.keepsOpen) opened = openFiles();
  std::vector<Files>& files = chip_.keepsOpen ? kept_ : opened;
  for (std::size_t at = 0; at < readings.size(); ++at) readings[at] = readOne(at, files[at]);
  if (gpuSleep_) gpuSleep_->noteReading();
  if (chip_.isSlow || gpuSleep_) last_ = readings;
  readAt_ = now;
  return readings;
}

}  // namespace hostwire
