// The loop of the bus thread: its connections, its timers and tasks from other threads.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "linux/bus/active_user.h"
#include "linux/bus/address.h"
#include "linux/bus/connection.h"

namespace hostwire {

using BusClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, which is also sd-bus's

class BusLoop {
 public:
  using TimerId = std::uint64_t;
  using Task = std::function<void()>;

  explicit BusLoop(const BusAddresses& addresses);
  ~BusLoop();
  BusLoop(const BusLoop&) = delete;
  BusLoop& operator=(const BusLoop&) = delete;

  BusConnection& systemBus() { return *system_; }
  BusConnection& sessionBus() { return *session_; }
  // Returns a second connection to the system bus, for calls that are answered with a descriptor. Let it rest
  // after each.
  BusConnection& descriptorBus() { return *descriptors_; }

  // Runs `task` in this round or the next, after the current one.
  void defer(Task task);
  TimerId after(std::chrono::milliseconds delay, Task task);
  // Does nothing for a timer that has fired.
  void cancel(TimerId timer);

  // Runs one round: handles everything due and received, then sleeps until there is more or `wakeFd` is
  // readable.
  void turn(int wakeFd);
  // Fails all pending calls and accepts no more; returns when all handlers have been called.
  void shutDown();

 private:
  struct Timer {
    TimerId id;
    Task task;
  };

  std::array<BusConnection*, 3> connections() const {
    return {system_.get(), session_.get(), descriptors_.get()};
  }
  void runDeferred();
  void runTimers();
  std::optional<BusClock::duration> nextWait();

  std::vector<Task> deferred_;
  std::multimap<BusClock::time_point, Timer> timers_;
  TimerId lastTimer_ = 0;
  std::unique_ptr<BusConnection> system_;
  std::unique_ptr<BusConnection> session_;
  std::unique_ptr<BusConnection> descriptors_;
  std::optional<ActiveUser> activeUser_;
};

}  // namespace hostwire
