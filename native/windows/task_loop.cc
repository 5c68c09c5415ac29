// The tasks of one thread.
#include "windows/task_loop.h"

#include <algorithm>
#include <utility>

namespace hostwire {

bool TaskLoop::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (isEnding_) return false;
  tasks_.push_back(std::move(task));
  isDue_.notify_one();
  return true;
}

std::optional<TaskLoop::TimerId> TaskLoop::after(std::chrono::milliseconds delay, Task task) {
  const std::lock_guard lock(mutex_);
  if (isEnding_) return std::nullopt;
  const TimerId id = ++lastTimer_;
  timers_.emplace(Clock::now() + delay, Timer{id, std::move(task)});
  isDue_.notify_one();
  return id;
}

void TaskLoop::cancel(TimerId timer) {
  // Destroyed after the lock is released: it may own something whose destructor calls this loop.
  Task cancelled;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [timer](const auto& entry) { return entry.second.id == timer; });
  if (found == timers_.end()) return;
  cancelled = std::move(found->second.task);
  timers_.erase(found);
}

void TaskLoop::end() {
  const std::lock_guard lock(mutex_);
  isEnding_ = true;
  isDue_.notify_one();
}

bool TaskLoop::isEnding() const {
  const std::lock_guard lock(mutex_);
  return isEnding_;
}

std::vector<TaskLoop::Task> TaskLoop::take() {
  std::unique_lock lock(mutex_);
  while (tasks_.empty() && !isEnding_) {
    if (timers_.empty()) {
      isDue_.wait(lock);
      continue;
    }
    const auto next = timers_.begin()->first;
    if (next <= Clock::now()) break;
    isDue_.wait_until(lock, next);
  }
  std::vector<Task> due = std::exchange(tasks_, {});
  const auto now = Clock::now();
  while (!timers_.empty() && (isEnding_ || timers_.begin()->first <= now)) {
    due.push_back(std::move(timers_.begin()->second.task));
    timers_.erase(timers_.begin());
  }
  return due;
}

void TaskLoop::run() {
  for (std::vector<Task> due = take(); !due.empty() || !isEnding(); due = take())
    for (Task& task : due) std::exchange(task, nullptr)();
}

}  // namespace hostwire
