// Files of amdgpu (Documentation/gpu/amdgpu/thermal.rst, …/driver-misc.rst), i915 and xe
// (Documentation/ABI/testing/sysfs-driver-intel-i915-hwmon, …-intel-xe-hwmon), and of hwmon in general.
#include "linux/gpu/sysfs.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "host/error.h"
#include "linux/gpu/names.h"
#include "linux/gpu/parse_gpu.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

constexpr double kMaxBytes = 1e15;
constexpr double kMaxWatts = 10'000;
constexpr double kMaxRpm = 100'000;
constexpr double kMicro = 1e6;
constexpr double kMaxJoules = 1e12;
constexpr double kPwmFull = 255;  // Documentation/hwmon/sysfs-interface.rst: pwmN is 0–255
// Minimum window: the energy counter advances about once per millisecond, so a shorter one is noise.
constexpr std::chrono::milliseconds kShortestEnergyWindow{20};
// Maximum window: a longer one shows the past rather than the present.
constexpr std::chrono::seconds kLongestEnergyWindow{60};

std::optional<std::uint64_t> toBytes(std::optional<double> value) {
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

}  // namespace

SysfsGpu::SysfsGpu(const Roots& roots, const GpuOptions& options, GpuDevice device)
    : roots_(roots),
      device_(std::move(device)),
      sleep_(shareGpuSleep(device_.folder, device_.isIntegrated, options.idleBeforeRest)),
      clients_(roots.proc, device_),
      last_(options.maxAge) {}

void SysfsGpu::addIfPresent(Sources& sources, const std::string& path, double unit, double max) {
  auto file = keepIfPresent(path);
  if (file) sources.push_back({std::move(*file), unit, max});
}

void SysfsGpu::addSensor(Sources& sources, const char* name, double unit, double max) const {
  if (!device_.hwmon.empty()) addIfPresent(sources, device_.hwmon + "/" + name, unit, max);
}

// If a file turns out to be missing, readFirst searches for sources again.
void SysfsGpu::findSources() {
  for (Sources* sources : {&load_, &vramUsed_, &vramTotal_, &power_, &energy_, &fan_, &fanMax_, &pwm_})
    sources->clear();
  addIfPresent(load_, device_.folder + "/gpu_busy_percent", 1, 100);
  addIfPresent(vramUsed_, device_.folder + "/mem_info_vram_used", 1, kMaxBytes);
  addIfPresent(vramTotal_, device_.folder + "/mem_info_vram_total", 1, kMaxBytes);
  addSensor(power_, "power1_average", kMicro, kMaxWatts);
  addSensor(power_, "power1_input", kMicro, kMaxWatts);
  addSensor(energy_, "energy1_input", kMicro, kMaxJoules);
  addSensor(energy_, "energy2_input", kMicro, kMaxJoules);
  addSensor(fan_, "fan1_input", 1, kMaxRpm);
  addSensor(fanMax_, "fan1_max", 1, kMaxRpm);
  // nouveau's pwm1 is a percentage, contrary to the documentation.
  if (device_.driver == "amdgpu") addSensor(pwm_, "pwm1", kPwmFull / 100, 100);
  findClocks();
  areSourcesKnown_ = findTemperatures();
}

void SysfsGpu::findClocks() {
  clock_.clear();
  addSensor(clock_, "freq1_input", kMicro, kMaxGpuMhz);
  addIfPresent(clock_, device_.folder + "/tile0/gt0/freq0/act_freq", 1, kMaxGpuMhz);
  for (const std::string& node : device_.nodes) {
    const std::string card = device_.folder + "/drm/" + node;
    addIfPresent(clock_, card + "/gt/gt0/rps_act_freq_mhz", 1, kMaxGpuMhz);
    addIfPresent(clock_, card + "/gt_act_freq_mhz", 1, kMaxGpuMhz);
  }
}

// Returns false if some existing file could not be examined.
bool SysfsGpu::findTemperatures() {
  constexpr std::string_view kInput = "_input";
  temperatures_.clear();
  if (device_.hwmon.empty()) return true;
  std::vector<std::string> inputs;
  std::vector<std::string> labels;
  const auto names = listFolder(device_.hwmon);
  bool isComplete = !names.empty();
  for (const std::string& name : names) {
    if (!name.starts_with("temp") || !name.ends_with(kInput)) continue;
    const std::string stem = name.substr(0, name.size() - kInput.size());
    inputs.push_back(name);
    auto label = tryReadSmallFile(device_.hwmon + "/" + stem + "_label");
    isComplete = isComplete && label;
    labels.push_back(std::move(label).value_or(std::string()));
  }
  for (const std::size_t at : rankGpuTemperatures(labels))
    temperatures_.emplace_back(device_.hwmon + "/" + inputs[at]);
  return isComplete;
}

// The board's own name is in a file of the driver, which is read only while the device is awake.
void SysfsGpu::nameDevice(bool isAwake) {
  if (isNameFinal_ && (isBoardKnown_ || !isAwake)) return;
  const auto board = isAwake ? tryReadSmallFile(device_.folder + "/product_name") : std::string();
  GpuName name = board.value_or("").empty() ? lookUpGpuName(roots_, device_) : GpuName{toValidUtf8(*board)};
  name_ = std::move(name.text);
  isNameFinal_ = name.isFinal;
  isBoardKnown_ = isAwake && board.has_value();
}

std::optional<SysfsGpu::Reading> SysfsGpu::readFirst(Sources& sources) {
  for (std::size_t at = 0; at < sources.size(); ++at) {
    Source& source = sources[at];
    try {
      const auto value = parseScaled(source.file.read(buffer_), source.unit, source.max);
      if (value) return Reading{*value, at};
    } catch (const HostError& error) {
      const int code = error.code().value();
      if (code == ENOENT || code == ENODEV) areSourcesKnown_ = false;
      if (failure_.empty()) failure_ = error.what();
    }
  }
  return std::nullopt;
}

std::optional<double> SysfsGpu::readNumber(Sources& sources) {
  const auto reading = readFirst(sources);
  return reading ? std::optional(reading->value) : std::nullopt;
}

std::optional<double> SysfsGpu::readLoad() {
  const auto load = readNumber(load_);
  return load || device_.nodes.empty() ? load : clients_.readLoad();
}

// The prober derives power from energy itself: between its own two readings, whose times it knows.
std::optional<double> SysfsGpu::readPower() {
  if (const auto power = readNumber(power_)) return power;
  const auto joules = readFirst(energy_);
  const auto now = Clock::now();
  const bool isSameCounter = joules && energyBefore_ && joules->at == energyBefore_->at;
  if (isSameCounter && now - energyAt_ < kShortestEnergyWindow) return energyPower_;
  energyPower_.reset();
  const bool isComparable = isSameCounter && now - energyAt_ <= kLongestEnergyWindow;
  // A counter that stays constant or decreases does not measure anything.
  if (isComparable && joules->value > energyBefore_->value) {
    const double seconds = std::chrono::duration<double>(now - energyAt_).count();
    const double watts = (joules->value - energyBefore_->value) / seconds;
    if (watts <= kMaxWatts) energyPower_ = watts;
  }
  energyBefore_ = joules;
  energyAt_ = now;
  return energyPower_;
}

std::optional<double> SysfsGpu::readFan() {
  const auto turns = readNumber(fan_);
  const auto max = readNumber(fanMax_);
  if (turns && max && *max > 0) return std::min(100.0, *turns / *max * 100);
  return readNumber(pwm_);
}

GpuValues SysfsGpu::readValues(bool withDetail) {
  GpuValues values;
  values.loadPercent = readLoad();
  values.temperatureCelsius = parseMillidegrees(hostwire::readFirst(temperatures_, buffer_));
  values.memoryUsedBytes = toBytes(readNumber(vramUsed_));
  values.memoryTotalBytes = toBytes(readNumber(vramTotal_));
  // An integrated processor may report nothing but its clock: only that shows that it can be read at all.
  if (!withDetail && values.isAnyKnown()) return values;
  values.powerWatts = readPower();
  values.fanPercent = readFan();
  values.clockMhz = readNumber(clock_);
  return values;
}

GpuAnswer SysfsGpu::read(bool withDetail) {
  GpuAnswer answer;
  answer.address = device_.address;
  const GpuSleep::State state = sleep_->judge();
  nameDevice(state == GpuSleep::State::kAwake);
  answer.name = name_;
  answer.isAsleep = state == GpuSleep::State::kAsleep;
  if (state != GpuSleep::State::kAwake) {
    answer.values = last_.ofSleeping();
    energyBefore_.reset();
    return answer;
  }
  if (!areSourcesKnown_) findSources();
  failure_.clear();
  answer.values = readValues(withDetail);
  sleep_->noteLoad(answer.values.loadPercent);
  if (answer.values.isAnyKnown()) {
    last_.store(answer.values);
    return answer;
  }
  answer.failure.reason = failure_.empty() ? "its driver reports nothing in /sys" : failure_;
  answer.values = last_.ofFailing();
  return answer;
}

}  // namespace hostwire
