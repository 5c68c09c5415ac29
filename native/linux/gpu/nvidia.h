// NVIDIA's graphics processors on Linux: NVML, asked only about those that are awake.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "gpu/nvml.h"
#include "host/roots.h"
#include "linux/gpu/answer.h"
#include "linux/gpu/devices.h"
#include "linux/gpu/sleep.h"

namespace hostwire {

struct NvidiaRequest {
  std::vector<GpuDevice> devices;
  bool wantsUnlisted = false;  // read all devices that the driver knows, instead of `devices`
  bool withDetail = false;
};

// Belongs to one prober's question: used by one thread at a time. Never throws.
class NvidiaGpus {
 public:
  NvidiaGpus(const Roots& roots, const GpuOptions& options);
  std::vector<GpuAnswer> read(const NvidiaRequest& request);

 private:
  struct Known {
    Known(const GpuDevice& device, const GpuOptions& options)
        : sleep(device.folder, device.isIntegrated, options.idleBeforeRest), last(options.maxAge) {}
    GpuSleep sleep;
    std::string name;  // empty until known
    LastGpuValues last;
  };

  std::vector<GpuAnswer> readUnlisted(bool withDetail);
  std::string nameOf(Known& known, const GpuDevice& device) const;
  GpuAnswer answerOf(const GpuDevice& device, const std::vector<NvmlReading>& readings);

  const Roots roots_;
  const GpuOptions options_;
  NvmlSession session_;
  std::map<std::string, Known> known_;  // by address
};

}  // namespace hostwire
