// Graphics processors that are part of a system on a chip: they are not on a PCI bus, and their drivers
// report little.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/gpu/answer.h"
#include "linux/gpu/devices.h"
#include "linux/gpu/drm_clients.h"
#include "linux/gpu/parse_gpu.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Finds devices of /sys/class/drm, and of /sys/class/devfreq where NVIDIA's nvgpu (Tegra) has no node. Reads
// only what the kernel keeps in memory.
std::vector<GpuDevice> findPlatformGpus(const Roots& roots);

// Returns how to make the load of such a device readable; empty if there is no way.
std::string platformLoadRemedy(const GpuDevice& device);

// Reads v3d (Raspberry Pi), panfrost, panthor and lima (Mali), etnaviv, powervr, asahi, nvgpu. None of the
// files that it reads wakes a device, so a suspended one is read like any other. Belongs to one prober's
// question: used by one thread at a time. Never throws.
class PlatformGpu {
 public:
  PlatformGpu(const Roots& roots, GpuDevice device);
  GpuAnswer read(bool withDetail);

 private:
  std::optional<double> readLoad();
  std::optional<double> readQueues();

  const GpuDevice device_;
  const std::string name_;
  DrmClients clients_;
  std::optional<KeptFile> queues_;     // v3d since Linux 6.8
  std::optional<KeptFile> load_;       // nvgpu: in tenths of a percent
  std::optional<KeptFile> profiling_;  // panfrost, panthor: "0" while clients are not accounted, the default
  std::vector<KeptFile> clocks_;
  std::vector<KeptFile> temperatures_;
  std::vector<GpuQueue> before_;
  std::optional<double> queueLoad_;
  std::string buffer_;
};

}  // namespace hostwire
