// The machine's power manager: what it supports, what inhibits it, and power actions.
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

// A program that blocks an action; delay inhibitors are not listed.
struct PowerInhibitor {
  std::string who;
  std::string why;
  std::string what;  // in logind's notation: "shutdown:sleep"
  std::uint32_t uid = 0;
};

// Who is asked, for a person to read.
struct PowerAuthority {
  std::string name;     // "systemd-logind"; empty where there is none
  std::string reached;  // by which way: an address
  std::string reason;   // why there is none
};

// May be called on any thread. Each answer comes once, within about a second, on another thread; when the
// command thread has been stopped, possibly on this one. Nothing is asked twice.
class PowerControl {
 public:
  // `onSleep` is called with true when the machine is about to sleep and with false when it has woken, from
  // the first question on, on the command thread.
  PowerControl(const CommandThread& thread, std::function<void(bool isGoingToSleep)> onSleep);
  ~PowerControl();
  PowerControl(const PowerControl&) = delete;
  PowerControl& operator=(const PowerControl&) = delete;

  void support(PowerAction action, const std::function<void(const PowerSupport&)>& answer);
  // `failure` is null when the list is complete; otherwise it says why the list is not known.
  using InhibitorsAnswer =
      std::function<void(const std::vector<PowerInhibitor>&, const std::optional<std::string>& failure)>;
  void inhibitors(const InhibitorsAnswer& answer);
  // Overrides block inhibitors: the caller has judged them. `failure` is null when the action was accepted.
  void act(PowerAction action, const std::function<void(const std::optional<std::string>& failure)>& answer);
  void authority(const std::function<void(const PowerAuthority&)>& answer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
