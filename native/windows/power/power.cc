// Power through Windows' own functions. Those that may block are called on separate threads.
#include "host/power.h"

#include <windows.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "windows/command_thread.h"
#include "windows/power/calls.h"
#include "windows/power/support.h"
#include "windows/power/suspend_news.h"
#include "windows/win32/error_text.h"

namespace hostwire {
namespace {

constexpr std::chrono::milliseconds kDeadline{1000};
constexpr const char* kStopping = "the service is stopping";
// "Other (planned)" in the event log (System Shutdown Reason Codes).
constexpr DWORD kReason = SHTDN_REASON_MAJOR_OTHER | SHTDN_REASON_MINOR_OTHER | SHTDN_REASON_FLAG_PLANNED;

using ActAnswer = std::function<void(const std::optional<std::string>&)>;

PowerFacts readPowerFacts(const PowerCalls& calls) {
  PowerFacts facts;
  PowerCapabilityBytes bytes{};
  static_assert(sizeof(SYSTEM_POWER_CAPABILITIES) == kPowerCapabilityBytes);
  const LONG status = calls.powerInformation(SystemPowerCapabilities, nullptr, 0, bytes.data(),
                                             static_cast<ULONG>(bytes.size()));
  facts.capabilitiesError = static_cast<DWORD>(status);
  if (status == 0) facts.capabilities = parsePowerCapabilities(bytes);
  facts.privilegeError = calls.enableShutdownPrivilege();
  DWORD session = 0;
  facts.isSessionZero = calls.processIdToSessionId(GetCurrentProcessId(), &session) && session == 0;
  return facts;
}

// The outcome of an action. Empty: done.
struct Failure {
  const char* operation = "";
  DWORD code = ERROR_SUCCESS;
};

Failure failureOf(const char* operation, bool isDone) {
  return {operation, isDone ? DWORD{ERROR_SUCCESS} : GetLastError()};
}

// May block: a sleep lasts until the machine wakes.
Failure carryOut(const PowerCalls& calls, PowerAction action) {
  if (action == PowerAction::kLock) return failureOf("LockWorkStation", calls.lockWorkStation() != FALSE);
  const DWORD privilegeError = calls.enableShutdownPrivilege();
  if (privilegeError != ERROR_SUCCESS) return {"SeShutdownPrivilege", privilegeError};
  if (action == PowerAction::kShutdown || action == PowerAction::kRestart) {
    // Immediately and without asking programs for consent, because no user may be there to answer.
    const BOOL isRestart = action == PowerAction::kRestart ? TRUE : FALSE;
    const BOOL isDone = calls.initiateSystemShutdown(nullptr, nullptr, 0, TRUE, isRestart, kReason);
    return failureOf("InitiateSystemShutdownEx", isDone != FALSE);
  }
  // The last argument leaves wake timers unchanged.
  const BOOLEAN isHibernation = action == PowerAction::kHibernate ? TRUE : FALSE;
  return failureOf("SetSuspendState", calls.setSuspendState(isHibernation, FALSE, FALSE) != FALSE);
}

void reportEnd(PowerAction action, const std::optional<Failure>& failure, const ActAnswer& answer) {
  if (!failure) {
    // The call returns when the machine has woken: a missing answer shows that it is falling asleep.
    if (action == PowerAction::kSleep || action == PowerAction::kHibernate) return answer(std::nullopt);
    return answer("Windows did not answer within " + std::to_string(kDeadline.count()) +
                  " ms; it may still be carried out");
  }
  if (failure->code == ERROR_SUCCESS) return answer(std::nullopt);
  answer(std::string(failure->operation) + ": " + windowsErrorText(failure->code));
}

}  // namespace

struct PowerControl::State {
  std::shared_ptr<CommandThread::State> thread;
  PowerListener onPlan;
  std::unique_ptr<SuspendNews> news;  // used on the command thread only

  // Runs `ask` on the command thread. Returns false when that thread has ended.
  static bool post(const std::shared_ptr<State>& self, std::function<void(const PowerCalls&)> ask) {
    return self->thread->post([weak = std::weak_ptr(self), ask = std::move(ask)] {
      const auto alive = weak.lock();
      if (alive && !alive->news) alive->listen(weak);
      ask(systemPowerCalls());
    });
  }

  void listen(const std::weak_ptr<State>& self) {
    news = std::make_unique<SuspendNews>(systemPowerCalls(), [self, loop = thread->loop](bool isGoing) {
      loop->post([self, isGoing] {
        const auto listener = self.lock();
        if (listener) listener->onPlan(isGoing ? std::optional(PowerAction::kSleep) : std::nullopt);
      });
    });
  }
};

PowerControl::PowerControl(const CommandThread& thread, PowerListener onPlan)
    : state_(std::make_shared<State>(State{thread.state(), std::move(onPlan), nullptr})) {}

PowerControl::~PowerControl() = default;

void PowerControl::support(PowerAction action, const std::function<void(const PowerSupport&)>& answer) {
  const auto ask = [action, answer](const PowerCalls& calls) {
    answer(powerSupportOf(action, readPowerFacts(calls)));
  };
  if (!State::post(state_, ask)) answer({false, kStopping});
}

// Only Windows knows the blocking programs (powercfg lists them with an administrator's rights).
void PowerControl::inhibitors(const InhibitorsAnswer& answer) {
  if (!State::post(state_, [answer](const PowerCalls&) { answer({}, std::nullopt); })) answer({}, kStopping);
}

void PowerControl::act(PowerAction action, const ActAnswer& answer) {
  const auto ask = [action, answer, loop = state_->thread->loop](const PowerCalls& calls) {
    askWithin<Failure>(
        loop, kDeadline, [&calls, action] { return carryOut(calls, action); },
        [action, answer](const std::optional<Failure>& failure) { reportEnd(action, failure, answer); });
  };
  if (!State::post(state_, ask)) answer(kStopping);
}

// SuspendNews hands the notice over and returns immediately. Windows waits at most about 2 s for programs, so
// messages sent on the notice usually leave; nothing guarantees it.
void PowerControl::delaySleep(std::string, const ActAnswer& answer) {
  const auto ask = [answer](const PowerCalls&) { answer("Windows has no inhibitor that delays a sleep"); };
  if (!State::post(state_, ask)) answer(kStopping);
}

void PowerControl::allowSleep() {}

void PowerControl::describeManager(const std::function<void(const Finding&)>& answer) {
  const auto ask = [answer](const PowerCalls&) {
    answer(Finding::works("power", "Windows on this machine"));
  };
  if (!State::post(state_, ask)) answer(Finding::missing("power", "Windows", {kStopping, ""}));
}

}  // namespace hostwire
