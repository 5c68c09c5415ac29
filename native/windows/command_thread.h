// The command thread of Windows: tasks and deadlines. What may block runs elsewhere and reports to it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "host/command_thread.h"
#include "host/thread.h"
#include "windows/task_loop.h"

namespace hostwire {

struct CommandThread::State {
  // Starts the thread when it is the first. False when there is none (any more).
  bool post(TaskLoop::Task task);
  void stop();

  // Shared with the threads that report to it, which may outlive it.
  const std::shared_ptr<TaskLoop> loop = std::make_shared<TaskLoop>();

 private:
  std::mutex mutex_;
  std::thread thread_;
  bool isStopped_ = false;
};

// On the command thread: runs `work`, which may block, on a thread of its own. `then` is told what it
// returned or, when that takes longer than `limit` or no thread can be had, nothing: once, on the command
// thread.
template <class Result>
void askWithin(const std::shared_ptr<TaskLoop>& loop, std::chrono::milliseconds limit,
               std::function<Result()> work, std::function<void(const std::optional<Result>&)> then) {
  struct Asked {
    std::function<void(const std::optional<Result>&)> then;

    void finish(const std::optional<Result>& result) {
      if (const auto answer = std::exchange(then, nullptr)) answer(result);
    }
  };
  const auto asked = std::make_shared<Asked>(Asked{std::move(then)});
  const auto timer = loop->after(limit, [asked] { asked->finish(std::nullopt); });
  if (!timer) return asked->finish(std::nullopt);
  const bool isStarted = startThread([loop, asked, timer = *timer, run = std::move(work)] {
    loop->post([loop, asked, timer, result = run()] {
      loop->cancel(timer);
      asked->finish(result);
    });
  });
  if (isStarted) return;
  loop->cancel(*timer);
  asked->finish(std::nullopt);
}

}  // namespace hostwire
