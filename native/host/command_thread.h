// The thread that power and media commands are carried out on: one, which nothing on it ever blocks.
#pragma once

#include <memory>

namespace hostwire {

class CommandThread {
 public:
  // Reads the environment: to be made where nothing changes it meanwhile. Starts no thread yet.
  CommandThread();
  ~CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;

  // Fails what is under way and waits for the thread's end, which is a moment. From another thread; more than
  // once does nothing.
  void stop();

  struct State;  // the platform's
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
