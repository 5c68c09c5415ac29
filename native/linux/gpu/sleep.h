// Decides whether a graphics processor is asleep, and when not to read one so that it can fall asleep.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "linux/kernel/file.h"

namespace hostwire {

// Each reading of a discrete processor restarts its autosuspend delay (autosuspend_delay_ms, mostly 5 s), so
// one that is read every 2 s never falls asleep. Therefore an idle one is not read for slightly longer than
// that. If it is still awake afterwards something else keeps it awake, and it is read without such pauses for
// some minutes. Belongs to one prober's question: used by one thread at a time. The files that it reads wake
// no device (Documentation/ABI/testing/sysfs-devices-power).
class GpuSleep {
 public:
  enum class State { kAwake, kResting, kAsleep };

  // `folder`: the device's. An integrated processor is always read: it sleeps together with the processor.
  GpuSleep(const std::string& folder, bool isIntegrated, std::chrono::milliseconds idleBeforeRest);

  // Returns the current state: only in kAwake may the device be read.
  State judge();
  // To be called after a reading; nothing if the load is unknown.
  void noteLoad(std::optional<double> loadPercent);

 private:
  using Clock = std::chrono::steady_clock;

  void readStatus();

  std::string folder_;
  bool isIntegrated_;
  std::chrono::milliseconds idleBeforeRest_;
  KeptFile status_;
  std::string buffer_;
  bool isStatusKnown_ = false;
  unsigned unreadable_ = 0;
  bool isAsleep_ = false;
  std::optional<Clock::time_point> idleSince_;
  std::optional<Clock::time_point> restsUntil_;
  std::optional<Clock::time_point> noRestUntil_;
};

// Shared by the two readers of one device, of its values and of its sensors: each alone would keep it awake
// while the other pauses. May be used on any thread.
class SharedGpuSleep {
 public:
  SharedGpuSleep(const std::string& folder, bool isIntegrated, std::chrono::milliseconds idleBeforeRest);

  GpuSleep::State judge();
  void noteLoad(std::optional<double> loadPercent);
  // To be called after a reading by a reader without the load. Ignored while another reader reports it.
  void noteReading();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  GpuSleep sleep_;
  std::optional<Clock::time_point> loadNotedAt_;
};

// Returns one object per device: `folder` may be another path to the same one, and only the first caller's
// other arguments count.
std::shared_ptr<SharedGpuSleep> shareGpuSleep(const std::string& folder, bool isIntegrated,
                                              std::chrono::milliseconds idleBeforeRest);

}  // namespace hostwire
