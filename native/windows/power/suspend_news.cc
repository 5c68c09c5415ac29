// Notifications of sleep and waking.
#include "windows/power/suspend_news.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace hostwire {
namespace {

using Listener = std::function<void(bool)>;

// A call may still be running when a registration has ended, so it is given a number that can be looked up at
// any time instead of an address.
struct Listeners {
  std::mutex mutex;
  std::map<std::uintptr_t, Listener> byNumber;
  std::uintptr_t last = 0;
};

Listeners& listeners() {
  static Listeners all;
  return all;
}

ULONG CALLBACK onSuspendResume(void* context, ULONG type, void*) {
  // "Automatic" is sent at every waking; the other notification only when a user is at the machine.
  if (type != PBT_APMSUSPEND && type != PBT_APMRESUMEAUTOMATIC) return 0;
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  const auto found = all.byNumber.find(reinterpret_cast<std::uintptr_t>(context));
  if (found != all.byNumber.end()) found->second(type == PBT_APMSUSPEND);
  return 0;
}

}  // namespace

SuspendNews::SuspendNews(const PowerCalls& calls, Listener onSleep) : calls_(calls) {
  Listeners& all = listeners();
  {
    const std::lock_guard lock(all.mutex);
    number_ = ++all.last;
    all.byNumber.emplace(number_, std::move(onSleep));
  }
  SuspendResumeRecipient recipient{onSuspendResume, reinterpret_cast<void*>(number_)};
  if (calls_.registerSuspendResume(kNotifyByCallback, &recipient, &registration_) != ERROR_SUCCESS)
    registration_ = nullptr;
}

SuspendNews::~SuspendNews() {
  if (registration_ != nullptr) calls_.unregisterSuspendResume(registration_);
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  all.byNumber.erase(number_);
}

}  // namespace hostwire
