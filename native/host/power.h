// The machine's power manager: what it supports, what inhibits it, and power actions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/command_thread.h"
#include "host/finding.h"

namespace hostwire {

enum class PowerAction { kShutdown, kRestart, kSleep, kHibernate, kLock };

// Names as JavaScript spells them, which are also the subjects of their rows.
inline constexpr std::array<std::pair<std::string_view, PowerAction>, 5> kPowerActionNames{{
    {"shutdown", PowerAction::kShutdown},
    {"restart", PowerAction::kRestart},
    {"sleep", PowerAction::kSleep},
    {"hibernate", PowerAction::kHibernate},
    {"lock", PowerAction::kLock},
}};

struct PowerSupport {
  bool isSupported = false;
  std::string reason;  // why not: a sentence without a full stop
};

// Receives what the machine is about to do, whichever program has asked for it: sleep (also for a
// hibernation), shut down (also for a restart that is not told from it) or restart; null: it has woken, or a
// shutdown was cancelled.
using PowerListener = std::function<void(std::optional<PowerAction> plan)>;

// A program that blocks an action; delay inhibitors are not listed.
struct PowerInhibitor {
  std::string who;
  std::string why;
  std::string what;  // in logind's notation: "shutdown:sleep"
  std::uint32_t uid = 0;
};

// May be called on any thread. Each answer arrives once, within about a second, on another thread, or
// possibly on the calling one when the command thread has been stopped. No question is repeated.
class PowerControl {
 public:
  // `onPlan` is called from the first question on, on the command thread.
  PowerControl(const CommandThread& thread, PowerListener onPlan);
  ~PowerControl();
  PowerControl(const PowerControl&) = delete;
  PowerControl& operator=(const PowerControl&) = delete;

  void support(PowerAction action, const std::function<void(const PowerSupport&)>& answer);
  // `failure` is null when the list is complete; otherwise it is the reason why the list is unknown.
  using InhibitorsAnswer =
      std::function<void(const std::vector<PowerInhibitor>&, const std::optional<std::string>& failure)>;
  void inhibitors(const InhibitorsAnswer& answer);
  // Overrides block inhibitors, which the caller has judged. `failure` is null when the action was accepted.
  void act(PowerAction action, const std::function<void(const std::optional<std::string>& failure)>& answer);
  // Makes each later sleep or shutdown wait until allowSleep(), for a second at most, whichever program
  // requests it. `why` is shown to users. `failure` is the reason why they are not delayed.
  void delaySleep(std::string why,
                  const std::function<void(const std::optional<std::string>& failure)>& answer);
  void allowSleep();
  // Reports the rows of `hostwire doctor`: the power manager and, if there is one, each action.
  void describe(const std::function<void(const Findings&)>& answer);

 private:
  struct State;
  // Reports the row "power": which manager answers, and how it is reached.
  void describeManager(const std::function<void(const Finding&)>& answer);

  std::shared_ptr<State> state_;
};

}  // namespace hostwire
