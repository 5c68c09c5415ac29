// Hears that the machine is about to sleep and that it has woken.
#pragma once

#include <functional>
#include <memory>

#include "windows/power/calls.h"

namespace hostwire {

class SuspendNews {
 public:
  // `onSleep` is called on a thread of Windows', until this object goes; it must be quick. Without the news
  // (an error) it is never called.
  SuspendNews(const PowerCalls& calls, std::function<void(bool isGoingToSleep)> onSleep);
  ~SuspendNews();
  SuspendNews(const SuspendNews&) = delete;
  SuspendNews& operator=(const SuspendNews&) = delete;

 private:
  const PowerCalls& calls_;
  std::uintptr_t number_ = 0;
  HPOWERNOTIFY registration_ = nullptr;
};

}  // namespace hostwire
