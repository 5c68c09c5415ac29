// The result of probing one graphics processor.
#pragma once

#include <chrono>
#include <string>

#include "host/gpu.h"

namespace hostwire {

// Maximum plausible clock.
inline constexpr double kMaxGpuMhz = 20'000;

struct GpuAnswer {
  std::string address;
  std::string name;
  GpuValues values;
  bool isAsleep = false;
  Obstacle failure;  // why nothing could be read this time
};

// The values of the last reading that returned any. They are valid as long as the device stays asleep; for a
// failing device, as long as any prober's answer.
class LastGpuValues {
 public:
  explicit LastGpuValues(std::chrono::milliseconds maxAge) : maxAge_(maxAge) {}
  void store(const GpuValues& values) {
    values_ = values;
    storedAt_ = std::chrono::steady_clock::now();
  }
  const GpuValues& ofSleeping() const { return values_; }
  GpuValues ofFailing() const {
    return std::chrono::steady_clock::now() - storedAt_ > maxAge_ ? GpuValues{} : values_;
  }

 private:
  std::chrono::milliseconds maxAge_;
  GpuValues values_;
  std::chrono::steady_clock::time_point storedAt_;
};

}  // namespace hostwire
