// Runs the tasks of one thread: in order, and with timers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace hostwire {

// All functions but `run` may be called on any thread.
class TaskLoop {
 public:
  using Task = std::function<void()>;
  using TimerId = std::uint64_t;

  TaskLoop() = default;
  TaskLoop(const TaskLoop&) = delete;
  TaskLoop& operator=(const TaskLoop&) = delete;

  // Returns false after the end: the task then never runs.
  bool post(Task task);
  // Timers are deadlines: those still set at the end run then. Nothing after the end.
  std::optional<TimerId> after(std::chrono::milliseconds delay, Task task);
  // Does nothing for a timer that has run.
  void cancel(TimerId timer);

  // Runs posted tasks, until `end` was called and the rest is done.
  void run();
  void end();
  bool isEnding() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Timer {
    TimerId id;
    Task task;
  };

  // Returns the tasks that are due, to be run without the lock; empty at the end.
  std::vector<Task> take();

  mutable std::mutex mutex_;
  std::condition_variable isDue_;
  std::vector<Task> tasks_;
  std::multimap<Clock::time_point, Timer> timers_;
  TimerId lastTimer_ = 0;
  bool isEnding_ = false;
};

}  // namespace hostwire
