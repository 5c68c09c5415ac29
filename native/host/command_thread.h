// The single thread that carries out power and media commands. It must never block.
#pragma once

#include <memory>

namespace hostwire {

class CommandThread {
 public:
  // Reads the environment, so it must be constructed while no other thread changes it. Starts no thread yet.
  CommandThread();
  ~CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;

  // Fails pending commands and waits for the thread to end, which it does within milliseconds. Call it from
  // another thread; a second call does nothing.
  void stop();

  struct State;  // the platform's own
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
