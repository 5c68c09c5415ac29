// A graphics processor whose kernel driver reports its state in /sys: amdgpu, i915, xe, nouveau, radeon.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/roots.h"
#include "linux/gpu/answer.h"
#include "linux/gpu/devices.h"
#include "linux/gpu/drm_clients.h"
#include "linux/gpu/sleep.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Belongs to one prober's question: used by one thread at a time. Never throws.
class SysfsGpu {
 public:
  SysfsGpu(const Roots& roots, const GpuOptions& options, GpuDevice device);
  GpuAnswer read(bool withDetail);

 private:
  using Clock = std::chrono::steady_clock;
  // Missing files are not read.
  using Source = std::optional<KeptFile>;

  void findSources();
  void findClock();
  bool findTemperature();
  void nameDevice(bool isAwake);
  std::optional<double> readNumber(Source& source, double unit, double max);
  GpuValues readValues(bool withDetail);
  std::optional<double> readTemperature();
  std::optional<double> readPower();
  std::optional<double> readFan();

  const Roots roots_;
  const GpuDevice device_;
  const std::shared_ptr<SharedGpuSleep> sleep_;
  DrmClients clients_;
  LastGpuValues last_;
  std::string name_;
  bool isNameFinal_ = false;  // as far as it is known whether the board has a name of its own
  bool isBoardKnown_ = false;
  bool areSourcesKnown_ = false;
  Source load_;
  Source vramUsed_;
  Source vramTotal_;
  Source temperature_;
  Source power_;
  Source energy_;
  Source fan_;
  Source fanMax_;
  Source pwm_;
  Source clock_;
  double clockUnit_ = 1;
  std::optional<double> energyBefore_;
  Clock::time_point energyAt_;
  std::optional<double> energyPower_;
  std::string failure_;
  std::string buffer_;
};

}  // namespace hostwire
