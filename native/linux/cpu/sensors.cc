// The processor's temperature, clock speed and energy.
#include "linux/cpu/sensors.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "host/recent.h"
#include "linux/cpu/energy.h"
#include "linux/cpu/speed.h"
#include "linux/cpu/temperature.h"

namespace hostwire {
namespace {

// Minimum ages of temperature and clock speed. Users only read these numbers, and a clock speed is the most
// expensive: on some kernels each processor is interrupted for it.
constexpr std::chrono::seconds kTemperatureAge{1};
constexpr std::chrono::seconds kSpeedAge{2};
// Used without a sensor, as in most virtual machines.
constexpr std::chrono::seconds kNoSensorAge{10};

std::function<TemperatureReading()> askTemperature(const Roots& roots) {
  return [source = std::make_shared<CpuTemperature>(roots.sys)] {
    const auto celsius = source->read();
    return TemperatureReading{celsius, source->hasSensor()};
  };
}

std::function<std::vector<CoreSpeed>()> askSpeeds(const Roots& roots, SpeedScope scope) {
  return [source = std::make_shared<CpuSpeed>(roots, scope)] { return source->read(); };
}

std::function<EnergyReading()> askEnergy(const Roots& roots) {
  return [source = std::make_shared<CpuEnergy>(roots.sys)] { return source->read(); };
}

std::optional<double> meanOf(const std::vector<CoreSpeed>& speeds) {
  if (speeds.empty()) return std::nullopt;
  double sum = 0;
  for (const CoreSpeed& speed : speeds) sum += speed.hz;
  return sum / static_cast<double>(speeds.size());
}

std::vector<std::optional<double>> inOrderOf(const std::vector<CoreTimes>& cores,
                                             const std::vector<CoreSpeed>& speeds) {
  std::vector<std::optional<double>> ordered;
  if (speeds.empty()) return ordered;
  for (const CoreTimes& core : cores) {
    const auto found =
        std::lower_bound(speeds.begin(), speeds.end(), core.index,
                         [](const CoreSpeed& speed, std::uint32_t index) { return speed.index < index; });
    const bool isKnown = found != speeds.end() && found->index == core.index;
    ordered.push_back(isKnown ? std::optional(found->hz) : std::nullopt);
  }
  return ordered;
}

}  // namespace

CpuSensors::CpuSensors(const Roots& roots, ProberPool& probers)
    : roots_(roots),
      temperature_(probers, askTemperature(roots), kTemperatureAge),
      someSpeeds_(probers, askSpeeds(roots, SpeedScope::kSome), kSpeedAge),
      allSpeeds_(probers, askSpeeds(roots, SpeedScope::kAll), kSpeedAge),
      energy_(probers, askEnergy(roots)) {}

std::optional<double> CpuSensors::readTemperature() {
  const auto now = std::chrono::steady_clock::now();
  if (now < temperatureRestsUntil_) return std::nullopt;
  const auto answer = temperature_.latest();
  const bool isNews = answer.value && answer.age < kNoSensorAge;
  if (isNews && !answer.value->hasSensor) temperatureRestsUntil_ = now + kNoSensorAge;
  return isNews ? answer.value->celsius : std::nullopt;
}

void CpuSensors::read(CpuCounters& counters, bool withDetail) {
  if (withDetail) counters.energy = recentValue(energy_.latest());
  counters.temperatureCelsius = readTemperature();
  auto speeds = recentValue((withDetail ? allSpeeds_ : someSpeeds_).latest());
  // In the first reading after detail was switched on or off, the other question's answer already has the
  // mean.
  const bool isOther = !speeds;
  if (isOther) speeds = recentValue((withDetail ? someSpeeds_ : allSpeeds_).latest());
  if (!speeds) return;
  counters.speedHz = meanOf(*speeds);
  if (withDetail && !isOther) counters.coreSpeedsHz = inOrderOf(counters.cores, *speeds);
}

Findings CpuSensors::describe(const CpuCounters& counters) const {
  return {describeTemperature(roots_.sys, counters.temperatureCelsius),
          describeSpeed(roots_, counters.speedHz), describeEnergy(roots_.sys, counters.energy)};
}

}  // namespace hostwire
