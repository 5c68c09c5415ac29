// NVIDIA's devices through NVML: a session with the driver that is opened when needed, reopened when it
// breaks and closed when unused, so that the devices may sleep.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_api.h"
#include "host/gpu.h"

namespace hostwire {

struct NvmlReading {
  std::string address;  // "0000:01:00.0", in lower case
  std::string name;
  GpuValues values;
  Obstacle failure;  // why the values are missing; empty if any was read
};

// Belongs to one prober's question: used by one thread at a time; any of its calls may hang.
class NvmlSession {
 public:
  NvmlSession(std::string library, std::chrono::milliseconds retryDelay);
  ~NvmlSession();
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;

  // Reads the devices at `addresses`; no other one is touched. Empty without a session: see failure().
  std::vector<NvmlReading> read(const std::vector<std::string>& addresses, bool withDetail);
  // Reads every device that the driver knows, for systems whose bus does not list them.
  std::vector<NvmlReading> readAll(bool withDetail);
  // Returns why no session is open; empty if one is open, or none was needed.
  const Obstacle& failure() const { return failure_; }
  // Releases the driver until the next reading.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Device {
    std::string address;
    NvmlDeviceHandle handle = nullptr;
    std::string name;
    bool isNameKnown = false;  // or known not to exist
    Obstacle failure;          // it broke: not asked again in this session
    // Empty until the device has answered. A card without a fan takes twice as long for this question as for
    // all others (0.47 and 0.22 ms: H200, driver 580), so it is asked once.
    std::optional<bool> hasFan;
  };

  bool open();
  void openOnce();
  void fail(Obstacle failure);
  void planRetry();
  std::vector<NvmlReading> readDevices(const std::vector<Device*>& devices, bool withDetail);
  void enumerate();
  Device& deviceAt(const std::string& address);
  void nameDevice(Device& device) const;
  void breakDevice(Device& device, int code);
  GpuValues readValues(Device& device, bool withDetail);

  const std::string libraryPath_;
  const std::chrono::milliseconds firstDelay_;
  std::chrono::milliseconds delay_;
  std::unique_ptr<NvmlApi> api_;
  bool isInitialized_ = false;
  bool isEnumerated_ = false;
  std::vector<std::unique_ptr<Device>> devices_;  // their addresses must not change when others are added
  Obstacle failure_;
  std::optional<Clock::time_point> retryAt_;
};

}  // namespace hostwire
