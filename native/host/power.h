// What the machine's power manager is asked: what it can, what holds it up, and to act.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/command_thread.h"

namespace hostwire {

enum class PowerAction { kShutdown, kRestart, kSleep, kHibernate, kLock };

struct PowerSupport {
  bool isSupported = false;
  std::string reason;  // why not: a sentence without a full stop
};

// A program that blocks an action; one that only delays it is not told of.
struct PowerInhibitor {
  std::string who;
  std::string why;
  std::string what;  // as logind spells it: "shutdown:sleep"
  std::uint32_t uid = 0;
};

// Who is asked, for a person to read.
struct PowerAuthority {
  std::string name;     // "systemd-logind"; empty where there is none
  std::string reached;  // by which way: an address
  std::string reason;   // why there is none
};

// Asked on any thread. Each answer comes once, within a second or so, on another thread, unless the command
// thread was stopped before: then perhaps on this one. What is asked is never asked twice.
class PowerControl {
 public:
  // `onSleep` is told true when the machine is about to sleep and false when it has woken, from the first
  // question on, on the command thread.
  PowerControl(const CommandThread& thread, std::function<void(bool isGoingToSleep)> onSleep);
  ~PowerControl();
  PowerControl(const PowerControl&) = delete;
  PowerControl& operator=(const PowerControl&) = delete;

  void support(PowerAction action, const std::function<void(const PowerSupport&)>& answer);
  // `failure` is null when the list is what stands; otherwise it says why it is not known.
  using InhibitorsAnswer =
      std::function<void(const std::vector<PowerInhibitor>&, const std::optional<std::string>& failure)>;
  void inhibitors(const InhibitorsAnswer& answer);
  // Block inhibitors do not hold it up: whoever asks has judged them. `failure` is null when it was taken.
  void act(PowerAction action, const std::function<void(const std::optional<std::string>& failure)>& answer);
  void authority(const std::function<void(const PowerAuthority&)>& answer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
