// Notifies when the machine is about to sleep and when it has woken.
#pragma once

#include <functional>
#include <memory>

#include "windows/power/calls.h"

namespace hostwire {

class SuspendNews {
 public:
  // `onSleep` is called on a Windows thread until this object is destroyed; it must be quick. If the
  // notifications are not available it is never called.
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
