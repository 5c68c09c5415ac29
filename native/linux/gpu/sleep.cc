// The runtime power management of one device, from /sys.
#include "linux/gpu/sleep.h"

#include <cerrno>
#include <filesystem>
#include <map>

#include "host/error.h"
#include "linux/gpu/parse_gpu.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// Maximum kernel delay that is waited for: with a longer one the shown values would be too old.
constexpr milliseconds kLongestDelay{15000};
constexpr std::chrono::minutes kBetweenRests{5};
// After this many failed readings of its power state, a device is assumed never to sleep.
constexpr unsigned kMaxUnreadable = 5;
// Load below which a device counts as idle.
constexpr double kIdlePercent = 1;
// The longest interval at which the load of a device is expected to be read again.
constexpr std::chrono::minutes kLoadKnownFor{2};

}  // namespace

GpuSleep::GpuSleep(const std::string& folder, bool isIntegrated, milliseconds idleBeforeRest)
    : folder_(folder),
      isIntegrated_(isIntegrated),
      idleBeforeRest_(idleBeforeRest),
      status_(folder + "/power/runtime_status") {}

// A device without the file never sleeps; one whose file cannot be read now is not woken to find out why.
void GpuSleep::readStatus() {
  try {
    const auto status = status_.read(buffer_);
    if (!status.empty()) isAsleep_ = isSuspended(status);
    isStatusKnown_ = true;
  } catch (const HostError& error) {
    const int code = error.code().value();
    if (code == ENOENT || code == ENOTDIR || ++unreadable_ > kMaxUnreadable) isStatusKnown_ = true;
  } catch (...) {
    // memory is exhausted: it is tried again at the next reading
  }
}

GpuSleep::State GpuSleep::judge() {
  const auto now = Clock::now();
  readStatus();
  if (!isStatusKnown_) return State::kResting;
  if (isAsleep_) {
    idleSince_.reset();
    restsUntil_.reset();
    noRestUntil_.reset();
    return State::kAsleep;
  }
  if (!restsUntil_) return State::kAwake;
  if (now < *restsUntil_) return State::kResting;
  restsUntil_.reset();
  noRestUntil_ = now + kBetweenRests;
  return State::kAwake;
}

void GpuSleep::noteLoad(std::optional<double> loadPercent) {
  const auto now = Clock::now();
  if (isIntegrated_ || loadPercent.value_or(0) >= kIdlePercent) {
    idleSince_.reset();
    return;
  }
  if (!idleSince_) idleSince_ = now;
  if (now - *idleSince_ < idleBeforeRest_ || (noRestUntil_ && now < *noRestUntil_)) return;
  idleSince_.reset();
  if (readSmallFile(folder_ + "/power/control") != "auto") return;
  const auto delay = parseScaled(readSmallFile(folder_ + "/power/autosuspend_delay_ms"), 1,
                                 static_cast<double>(kLongestDelay.count()));
  if (!delay) return;
  // Beyond the kernel's delay: 2 s with the 10 s that the service waits.
  restsUntil_ = now + milliseconds(static_cast<std::int64_t>(*delay)) + idleBeforeRest_ / 5;
}

SharedGpuSleep::SharedGpuSleep(const std::string& folder, bool isIntegrated, milliseconds idleBeforeRest)
    : sleep_(folder, isIntegrated, idleBeforeRest) {}

GpuSleep::State SharedGpuSleep::judge() {
  const std::lock_guard lock(mutex_);
  return sleep_.judge();
}

void SharedGpuSleep::noteLoad(std::optional<double> loadPercent) {
  const std::lock_guard lock(mutex_);
  loadNotedAt_ = Clock::now();
  sleep_.noteLoad(loadPercent);
}

void SharedGpuSleep::noteReading() {
  const std::lock_guard lock(mutex_);
  if (loadNotedAt_ && Clock::now() - *loadNotedAt_ < kLoadKnownFor) return;
  sleep_.noteLoad(std::nullopt);
}

std::shared_ptr<SharedGpuSleep> shareGpuSleep(const std::string& folder, bool isIntegrated,
                                              milliseconds idleBeforeRest) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<SharedGpuSleep>> known;
  std::error_code error;
  const std::string canonical = std::filesystem::canonical(folder, error).string();
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = known[error ? folder : canonical];
  auto sleep = entry.lock();
  if (!sleep) {
    sleep = std::make_shared<SharedGpuSleep>(folder, isIntegrated, idleBeforeRest);
    entry = sleep;
  }
  return sleep;
}

}  // namespace hostwire
