// A graphics processor whose kernel driver reports its state in /sys: amdgpu, i915, xe, nouveau, radeon.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  struct Source {
    KeptFile file;
    double unit = 1;
    double max = 0;  // in the unit
  };
  // Best first. The first one that answers counts: some APUs have a gpu_busy_percent that always fails.
  // Missing files are left out.
  using Sources = std::vector<Source>;
  struct Reading {
    double value = 0;
    std::size_t at = 0;  // index of the source that answered
  };
  static void addIfPresent(Sources& sources, const std::string& path, double unit, double max);
  void addSensor(Sources& sources, const char* name, double unit, double max) const;

  void findSources();
  void findClocks();
  bool findTemperatures();
  void nameDevice(bool isAwake);
  std::optional<Reading> readFirst(Sources& sources);
  std::optional<double> readNumber(Sources& sources);
  GpuValues readValues(bool withDetail);
  std::optional<double> readLoad();
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
  Sources load_;
  Sources vramUsed_;
  Sources vramTotal_;
  std::vector<KeptFile> temperatures_;
  Sources power_;
  Sources energy_;
  Sources fan_;
  Sources fanMax_;
  Sources pwm_;
  Sources clock_;
  std::optional<Reading> energyBefore_;
  Clock::time_point energyAt_;
  std::optional<double> energyPower_;
  std::string failure_;
  std::string buffer_;
};

}  // namespace hostwire
