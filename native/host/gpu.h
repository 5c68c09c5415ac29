// Graphics processors. Every value is a prober's last answer; absent if it could not be read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

// Current values of one device. The last three are read with detail only.
struct GpuValues {
  std::optional<double> loadPercent;
  std::optional<double> temperatureCelsius;
  std::optional<std::uint64_t> memoryUsedBytes;
  std::optional<std::uint64_t> memoryTotalBytes;
  std::optional<double> powerWatts;
  std::optional<double> fanPercent;
  std::optional<double> clockMhz;

  bool isAnyKnown() const {
    return loadPercent || temperatureCelsius || memoryUsedBytes || memoryTotalBytes || powerWatts ||
           fanPercent || clockMhz;
  }
};

struct GpuCounters {
  std::string name;
  std::string vendor;
  GpuValues values;       // of a device that is asleep: the last values before that
  bool isAsleep = false;  // in runtime suspend, so it is not read
};

// One device found by the last reading, readable or not.
struct GpuFinding {
  enum class State { kRead, kAsleep, kWaiting, kUnreadable };
  std::string address;  // on the bus: "0000:01:00.0"
  std::string vendor;
  std::string name;    // empty until known
  std::string driver;  // empty without one
  State state = State::kWaiting;
  std::string source;      // the source of its values: "NVML"
  Obstacle obstacle;       // why it is unreadable, or readable only in part
  std::string loadRemedy;  // how to make its load readable, where that is missing
  GpuValues values;
};

struct GpuOptions {
  std::string nvmlLibrary;  // NVIDIA's management library; empty: the platform's default name
  std::chrono::milliseconds retryDelay{1000};  // the initial delay after a failure; it doubles 5 times
  std::chrono::milliseconds discoveryInterval{
      30000};                               // between two searches for devices that were added or removed
  std::chrono::milliseconds maxAge{10000};  // of the values that a device returned before it failed
  std::chrono::milliseconds idleBeforeRest{10000};  // then an idle device that may sleep is not read
};

// Reads the devices that report at least one value, or are asleep: first discrete ones that are awake, then
// integrated ones that are awake, then those that are asleep.
class GpuReader {
 public:
  GpuReader(const Roots& roots, const GpuOptions& options, ProberPool& probers);
  ~GpuReader();
  std::vector<GpuCounters> read(bool withDetail);
  // Returns why devices are missing from the last reading; empty when none is missing.
  const std::string& failure() const;
  // Returns one row for all devices, from a reading with detail. It is pending until all drivers have
  // answered.
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
