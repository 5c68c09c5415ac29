// Fuzz targets: graphics processors, sensors, batteries.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "fuzz/targets.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/gpu/parse_gpu.h"
#include "linux/sensors/parse_battery.h"
#include "linux/sensors/parse_sensors.h"

namespace hostwire {
namespace {

void runGpuNumbers(std::string_view input) {
  parsePciId(input);
  isSuspended(input);
  const auto percent = parseScaled(input, 1, 100);
  if (percent) require(*percent >= 0 && *percent <= 100, "a percentage");
  const auto watts = parseScaled(input, 1e6, 1e4);
  if (watts) require(*watts >= 0 && *watts <= 1e4, "in its bounds");
}

void runPciIds(std::string_view input) {
  for (const std::uint32_t device : {0x2684U, 0x73bfU, 0x56a0U})
    for (const std::uint32_t vendor : {0x10deU, 0x1002U, 0x8086U}) findPciName(input, vendor, device);
}

void runAmdgpuIds(std::string_view input) {
  const std::string name = findAmdgpuName(input, 0x73ff, 0xc3);
  require(name.find('\n') == std::string::npos, "a name is of one line");
}

void runDrmClient(std::string_view input) {
  const auto client = parseDrmClient(input);
  if (!client) return;
  require(client->engines.size() <= 64, "a text makes no more engines than any driver has");
  auto later = *client;
  for (DrmEngine& engine : later.engines)
    if (engine.busyNs) *engine.busyNs += 1000;
  const double load = drmLoadBetween({*client}, {later}, 1e9);
  require(load >= 0 && load <= 100, "a load is a percentage");
  require(drmLoadBetween({later}, {*client, *client}, 0) == 0, "no time, no load");
}

void runGpuQueues(std::string_view input) {
  const auto queues = parseGpuQueues(input);
  require(queues.size() <= 64, "a text makes no more queues than any driver has");
  auto later = queues;
  for (GpuQueue& queue : later) queue.readAtNs += 1000;
  const auto load = queueLoadBetween(queues, later);
  if (load) require(*load >= 0 && *load <= 100, "a load is a percentage");
}

void runGpuLabels(std::string_view input) {
  const auto ranked = rankGpuTemperatures({std::string(input), "vram", std::string(input)});
  require(std::find(ranked.begin(), ranked.end(), 1) == ranked.end(),
          "the memory's temperature is not the device's");
}

void runSensorValue(std::string_view input) {
  for (const auto kind :
       {SensorKind::kTemperature, SensorKind::kFan, SensorKind::kVoltage, SensorKind::kPower}) {
    const auto value = parseSensorValue(kind, input);
    if (value) require(*value >= -1000 && *value <= 100'000, "what a sensor can measure");
  }
}

void runSensorFile(std::string_view input) {
  const auto file = parseSensorFileName(input);
  if (file) require(input.starts_with(sensorPrefix(file->kind, 0).substr(0, 2)), "the kind is in the name");
  const std::string name = cleanName(input);
  require(cleanName(name) == name, "a clean name stays as it is");
  isPackageZone(input.substr(0, input.size() / 2), input.substr(input.size() / 2));
  isSystemBattery(input, input);
}

// The lines are the names; some are equal.
void runSensorLabels(std::string_view input) {
  std::vector<ChipNames> chips;
  std::vector<InputNames> inputs;
  std::string_view rest = input.substr(0, 4096);
  for (std::size_t end = 0; end != std::string_view::npos;
       rest.remove_prefix(std::min(rest.size(), end + 1))) {
    end = rest.find('\n');
    const std::string name(rest.substr(0, end));
    chips.push_back({name, "0", name, "platform/x", name});
    inputs.push_back({"temp" + std::to_string(inputs.size()), name});
  }
  const auto chipNames = nameChips(chips);
  const auto devices = identifyChips(chips);
  const auto inputNames = nameInputs(inputs);
  require(std::set(chipNames.begin(), chipNames.end()).size() == chips.size(), "no chip's name comes twice");
  require(std::set(devices.begin(), devices.end()).size() == chips.size(), "each chip has an identity");
  require(std::set(inputNames.begin(), inputNames.end()).size() == inputs.size(),
          "no input's name comes twice");
}

void runPowerSupply(std::string_view input) {
  const BatteryCounters battery = parsePowerSupply(input).battery;
  if (battery.percent) require(*battery.percent >= 0 && *battery.percent <= 100, "a share of the charge");
  for (const auto& value : {battery.energyWh, battery.energyFullWh, battery.chargeAh, battery.voltageVolts,
                            battery.powerWatts, battery.currentAmps, battery.secondsToEmpty})
    if (value) require(*value >= 0 && *value <= 1e7, "what a battery can have");
}

}  // namespace

const std::vector<FuzzTarget>& deviceTargets() {
  static const std::vector<FuzzTarget> targets{
      {"gpu-numbers", "/gpu_busy_percent", runGpuNumbers},
      {"pci-id", "/vendor", runGpuNumbers},
      {"runtime-status", "/runtime_status", runGpuNumbers},
      {"pci-ids", "/pci.ids", runPciIds},
      {"amdgpu-ids", "/amdgpu.ids", runAmdgpuIds},
      {"drm-client", "/fdinfo/9", runDrmClient},
      {"drm-client-xe", "/fdinfo/19", runDrmClient},
      {"gpu-queues", "", runGpuQueues},
      {"gpu-model", "", call<findModel>},
      {"gpu-labels", "_label", runGpuLabels},
      {"sensor-value", "_input", runSensorValue},
      {"sensor-file", "", runSensorFile},
      {"sensor-labels", "/name", runSensorLabels},
      {"power-supply", "/uevent", runPowerSupply},
  };
  return targets;
}

}  // namespace hostwire
