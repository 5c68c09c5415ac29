// The command thread of Windows: tasks and deadlines. Calls that may block run on other threads and report to
// it.
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
  // Runs a task; the first one starts the thread. Returns false when it could not be started or has ended.
  bool post(TaskLoop::Task task);
  void stop();

  // Shared with the threads that report to it, which may outlive it.
  const std::shared_ptr<TaskLoop> loop = std::make_shared<TaskLoop>();

 private:
  std::mutex mutex_;
  std::thread thread_;
  bool isStopped_ = false;
};

// An answer that is delivered once, on the command thread: the result, or nothing when it takes too long.
template <class Result>
class OpenAnswer : public std::enable_shared_from_this<OpenAnswer<Result>> {
 public:
  using Then = std::function<void(const std::optional<Result>&)>;

  // To be called on the command thread.
  static std::shared_ptr<OpenAnswer> open(const std::shared_ptr<TaskLoop>& loop,
                                          std::chrono::milliseconds limit, Then then) {
    const auto answer = std::shared_ptr<OpenAnswer>(new OpenAnswer(loop, std::move(then)));
    answer->timer_ = loop->after(limit, [answer] { answer->finish(std::nullopt); });
    if (!answer->timer_) answer->finish(std::nullopt);
    return answer;
  }
  // To be called on the command thread: true while the answer has not been delivered.
  bool isOpen() const { return then_ != nullptr; }
  // May be called on any thread.
  void give(std::optional<Result> result) {
    loop_->post([self = this->shared_from_this(), result = std::move(result)] { self->finish(result); });
  }

 private:
  OpenAnswer(std::shared_ptr<TaskLoop> loop, Then then) : loop_(std::move(loop)), then_(std::move(then)) {}

  void finish(const std::optional<Result>& result) {
    if (const Then then = std::exchange(then_, nullptr)) then(result);
    if (const auto timer = std::exchange(timer_, std::nullopt)) loop_->cancel(*timer);
  }

  const std::shared_ptr<TaskLoop> loop_;
  Then then_;
  std::optional<TaskLoop::TimerId> timer_;
};

// To be called on the command thread: runs `work`, which may block, on a thread of its own.
template <class Result>
void askWithin(const std::shared_ptr<TaskLoop>& loop, std::chrono::milliseconds limit,
               std::function<Result()> work, typename OpenAnswer<Result>::Then then) {
  const auto answer = OpenAnswer<Result>::open(loop, limit, std::move(then));
  if (!answer->isOpen()) return;
  if (!startThread([answer, run = std::move(work)] { answer->give(run()); })) answer->give(std::nullopt);
}

}  // namespace hostwire
