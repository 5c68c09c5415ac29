// The bus thread as other threads see it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "linux/bus/address.h"
#include "linux/bus/loop.h"

namespace hostwire {

class BusThread {
 public:
  // Runs on the bus thread; must not throw.
  using Task = std::function<void(BusLoop&)>;

  explicit BusThread(BusAddresses addresses);
  ~BusThread();
  BusThread(const BusThread&) = delete;
  BusThread& operator=(const BusThread&) = delete;

  // Runs `task` on the thread, which the first task starts; may be called on any thread. Returns false,
  // without running the task, after stop() and when the system has no thread or descriptor left.
  bool post(Task task);
  // Fails everything pending with "the service is stopping", then joins the thread, which never blocks,
  // within a millisecond. Not to be called on the bus thread itself.
  void stop();

 private:
  struct Running;

  bool start();

  const BusAddresses addresses_;
  std::mutex mutex_;
  bool isStopped_ = false;
  std::unique_ptr<Running> running_;
};

}  // namespace hostwire
