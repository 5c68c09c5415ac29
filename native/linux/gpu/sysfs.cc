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
// The energy counter advances about once per millisecond: a shorter window is noise.
constexpr std::chrono::milliseconds kShortestEnergyWindow{20};
// A longer window shows the past rather than the present.
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

// A file that turns out to be missing makes readNumber look for sources again.
void SysfsGpu::findSources() {
  const std::string& hwmon = device_.hwmon;
  const auto sensor = [&](const char* name) {
    return hwmon.empty() ? std::nullopt : keepIfPresent(hwmon + "/" + name);
  };
  load_ = keepIfPresent(device_.folder + "/gpu_busy_percent");
  vramUsed_ = keepIfPresent(device_.folder + "/mem_info_vram_used");
  vramTotal_ = keepIfPresent(device_.folder + "/mem_info_vram_total");
  power_ = sensor("power1_average");
  if (!power_) power_ = sensor("power1_input");
  energy_ = power_ ? std::nullopt : sensor("energy1_input");
  if (!power_ && !energy_) energy_ = sensor("energy2_input");
  fan_ = sensor("fan1_input");
  fanMax_ = sensor("fan1_max");
  // nouveau's pwm1 is a percentage, contrary to the documentation.
  pwm_ = device_.driver == "amdgpu" ? sensor("pwm1") : std::nullopt;
  findClock();
  areSourcesKnown_ = findTemperature();
}

void SysfsGpu::findClock() {
  clock_ = device_.hwmon.empty() ? std::nullopt : keepIfPresent(device_.hwmon + "/freq1_input");
  clockUnit_ = kMicro;
  if (clock_) return;
  clockUnit_ = 1;
  clock_ = keepIfPresent(device_.folder + "/tile0/gt0/freq0/act_freq");
  for (const std::string& node : device_.nodes) {
    const std::string card = device_.folder + "/drm/" + node;
    if (!clock_) clock_ = keepIfPresent(card + "/gt/gt0/rps_act_freq_mhz");
    if (!clock_) clock_ = keepIfPresent(card + "/gt_act_freq_mhz");
  }
}

// False where not every existing file could be looked at.
bool SysfsGpu::findTemperature() {
  constexpr std::string_view kInput = "_input";
  temperature_.reset();
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
  const auto chosen = chooseGpuTemperature(labels);
  if (chosen) temperature_ = KeptFile(device_.hwmon + "/" + inputs[*chosen]);
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

std::optional<double> SysfsGpu::readNumber(Source& source, double unit, double max) {
  if (!source) return std::nullopt;
  try {
    return parseScaled(source->read(buffer_), unit, max);
  } catch (const HostError& error) {
    const int code = error.code().value();
    if (code == ENOENT || code == ENODEV) areSourcesKnown_ = false;
    if (failure_.empty()) failure_ = error.what();
    return std::nullopt;
  }
}

std::optional<double> SysfsGpu::readTemperature() {
  if (!temperature_) return std::nullopt;
  return parseMillidegrees(temperature_->readIfPresent(buffer_));
}

// The prober derives power from energy itself: between its own two readings, whose times it knows.
std::optional<double> SysfsGpu::readPower() {
  if (power_) return readNumber(power_, kMicro, kMaxWatts);
  const auto joules = readNumber(energy_, kMicro, kMaxJoules);
  const auto now = Clock::now();
  if (joules && energyBefore_ && now - energyAt_ < kShortestEnergyWindow) return energyPower_;
  energyPower_.reset();
  const bool isComparable = joules && energyBefore_ && now - energyAt_ <= kLongestEnergyWindow;
  // A counter that stands still or decreases does not measure anything.
  if (isComparable && *joules > *energyBefore_) {
    const double watts = (*joules - *energyBefore_) / std::chrono::duration<double>(now - energyAt_).count();
    if (watts <= kMaxWatts) energyPower_ = watts;
  }
  energyBefore_ = joules;
  energyAt_ = now;
  return energyPower_;
}

std::optional<double> SysfsGpu::readFan() {
  const auto turns = readNumber(fan_, 1, kMaxRpm);
  const auto max = readNumber(fanMax_, 1, kMaxRpm);
  if (turns && max && *max > 0) return std::min(100.0, *turns / *max * 100);
  return readNumber(pwm_, kPwmFull / 100, 100);
}

GpuValues SysfsGpu::readValues(bool withDetail) {
  GpuValues values;
  if (load_) {
    values.loadPercent = readNumber(load_, 1, 100);
  } else if (!device_.nodes.empty()) {
    values.loadPercent = clients_.readLoad();
  }
  values.temperatureCelsius = readTemperature();
  values.memoryUsedBytes = toBytes(readNumber(vramUsed_, 1, kMaxBytes));
  values.memoryTotalBytes = toBytes(readNumber(vramTotal_, 1, kMaxBytes));
  // An integrated processor may have nothing but its clock: only that shows that it can be read at all.
  if (!withDetail && values.isAnyKnown()) return values;
  values.powerWatts = readPower();
  values.fanPercent = readFan();
  values.clockMhz = readNumber(clock_, clockUnit_, kMaxGpuMhz);
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
