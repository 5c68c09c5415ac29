// The command thread of Windows.
#include "windows/command_thread.h"

#include <system_error>

namespace hostwire {

bool CommandThread::State::post(TaskLoop::Task task) {
  const std::lock_guard lock(mutex_);
  if (isStopped_) return false;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([kept = loop] { kept->run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  return loop->post(std::move(task));
}

void CommandThread::State::stop() {
  std::thread ending;
  {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
    ending = std::move(thread_);
  }
  loop->end();
  if (ending.joinable()) ending.join();
}

CommandThread::CommandThread() : state_(std::make_shared<State>()) {}
CommandThread::~CommandThread() { stop(); }

void CommandThread::stop() { state_->stop(); }

}  // namespace hostwire
