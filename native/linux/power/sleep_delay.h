// Delays each sleep or shutdown of the machine until the work that must precede it is done: a delay inhibitor
// of logind (org.freedesktop.login1(5), Inhibit). Everything here runs on the bus thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "linux/bus/loop.h"
#include "linux/kernel/file.h"

namespace hostwire {

class SleepDelay : public std::enable_shared_from_this<SleepDelay> {
 public:
  using Answer = std::function<void(const std::optional<std::string>& failure)>;

  // `loop` outlives every call.
  explicit SleepDelay(BusLoop& loop) : loop_(loop) {}

  // Takes the inhibitor, and takes it again after each sleep and from a logind that starts later, until
  // release(). `answer` is called once: whether it was taken now.
  void hold(std::string why, const Answer& answer);
  // Releases the inhibitor: the present sleep or shutdown, and later ones, need not wait.
  void release();
  // Handles the notices of logind. What is about to begin waits for release(), at most a second.
  void onNotice(bool isGoing);

 private:
  void subscribe();
  void take(const Answer& answer);
  void takeAgain();

  BusLoop& loop_;
  std::string why_;
  bool isWanted_ = false;
  bool isSubscribed_ = false;
  FileDescriptor inhibitor_;  // logind's pipe: logind waits for its end
  BusLoop::TimerId limitTimer_ = 0;
};

}  // namespace hostwire
