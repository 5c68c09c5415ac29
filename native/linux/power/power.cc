// Power through logind, or through systemd's manager if logind is missing.
#include "host/power.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "linux/bus/failure.h"
#include "linux/command_thread.h"
#include "linux/power/logind.h"
#include "linux/power/sleep_delay.h"

namespace hostwire {
namespace {

// Deadline of a call: an answer takes less than a millisecond, 50 when polkit is asked first.
constexpr std::chrono::milliseconds kDeadline{1000};

constexpr const char* kSubject = "power";
constexpr const char* kStopping = "the service is stopping";
constexpr const char* kNobodyToAsk = "neither logind nor systemd's manager is on the system bus";

using SupportAnswer = std::function<void(const PowerSupport&)>;
using ActAnswer = std::function<void(const std::optional<std::string>&)>;

// All of these run on the bus thread. Each calls `answer` once.

void supportOfManager(BusConnection& bus, PowerAction action, const SupportAnswer& answer) {
  if (!logind::managerCall(action))
    return answer({false, "logind is not on the system bus, and systemd's manager does not support it"});
  bus.call(logind::ownerCall("org.freedesktop.systemd1"), kDeadline, [answer](Reply& reply) {
    if (reply.end != CallEnd::kAnswered)
      return answer({false, isNobody(reply) ? kNobodyToAsk : failureText(reply, "the bus")});
    // It does not ask polkit: it accepts a shutdown only from users who may call reboot(2).
    if (geteuid() != 0)
      return answer(
          {false, "logind is not on the system bus, and systemd's manager accepts this from root only"});
    answer({true, ""});
  });
}

// Returns the sessions to lock. Root locks all of them.
std::vector<std::string> sessionsToLock(const std::vector<logind::Session>& sessions) {
  std::vector<std::string> seated;
  std::vector<std::string> all;
  for (const auto& [id, uid, hasSeat] : sessions) {
    if (geteuid() != 0 && uid != static_cast<double>(geteuid())) continue;
    all.push_back(id);
    if (hasSeat) seated.push_back(id);
  }
  return seated.empty() ? all : seated;
}

void withSessions(BusConnection& bus,
                  const std::function<void(const std::vector<std::string>&, const std::string&)>& then) {
  bus.call(logind::sessionsCall(), kDeadline, [then](Reply& reply) {
    if (reply.end != CallEnd::kAnswered) return then({}, failureText(reply, "logind"));
    const auto sessions = sessionsToLock(logind::readSessions(reply.body));
    then(sessions, !sessions.empty() ? ""
                   : geteuid() == 0  ? "no user is logged in"
                                     : "this user is not logged in, and only root may lock others' sessions");
  });
}

void supportOf(BusConnection& bus, PowerAction action, const SupportAnswer& answer) {
  if (action == PowerAction::kLock)
    return withSessions(bus, [answer](const auto&, const std::string& reason) {
      answer({reason.empty(), reason});
    });
  bus.call(logind::canCall(action), kDeadline, [&bus, action, answer](Reply& reply) {
    if (isNobody(reply)) return supportOfManager(bus, action, answer);
    answer(logind::supportOf(reply));
  });
}

// Tries the first of `calls`, and the next only when the callee does not know that one: nothing was done
// then.
void callInTurn(BusConnection& bus, std::vector<Call> calls, const std::function<void(const Reply&)>& then) {
  const Call first = calls.front();
  bus.call(first, kDeadline, [&bus, calls = std::move(calls), then](Reply& reply) {
    if (!logind::isUnknown(reply)) return then(reply);
    const bool isMethodUnknown = logind::isMethodUnknown(reply);
    const auto next = std::find_if(calls.begin() + 1, calls.end(), [&](const Call& call) {
      return !isMethodUnknown || call.member != calls.front().member;
    });
    if (next == calls.end()) return then(reply);
    callInTurn(bus, {next, calls.end()}, then);
  });
}

void reportEnd(const Reply& reply, const std::string& who, const ActAnswer& answer) {
  if (reply.end == CallEnd::kAnswered) return answer(std::nullopt);
  std::string reason = failureText(reply, who);
  if (reply.end == CallEnd::kTimedOut || reply.end == CallEnd::kLost)
    reason += "; it may still be carried out";
  answer(reason);
}

void actByManager(BusConnection& bus, PowerAction action, const ActAnswer& answer) {
  auto call = logind::managerCall(action);
  if (!call) return answer("logind is not on the system bus");
  bus.call(std::move(*call), kDeadline,
           [answer](Reply& reply) { reportEnd(reply, "systemd's manager", answer); });
}

void lockEach(BusConnection& bus, std::vector<std::string> sessions, const ActAnswer& answer) {
  const std::string last = sessions.back();
  sessions.pop_back();
  bus.call(logind::lockCall(last), kDeadline, [&bus, sessions, answer](Reply& reply) {
    if (reply.end != CallEnd::kAnswered || sessions.empty()) return reportEnd(reply, "logind", answer);
    lockEach(bus, sessions, answer);
  });
}

void lock(BusConnection& bus, const ActAnswer& answer) {
  if (geteuid() == 0)
    return bus.call(logind::lockAllCall(), kDeadline,
                    [answer](Reply& reply) { reportEnd(reply, "logind", answer); });
  withSessions(bus, [&bus, answer](const std::vector<std::string>& sessions, const std::string& reason) {
    if (sessions.empty()) return answer(reason);
    lockEach(bus, sessions, answer);
  });
}

void act(BusConnection& bus, PowerAction action, const ActAnswer& answer) {
  if (action == PowerAction::kLock) return lock(bus, answer);
  callInTurn(bus, logind::actCalls(action), [&bus, action, answer](const Reply& reply) {
    if (isNobody(reply)) return actByManager(bus, action, answer);
    reportEnd(reply, "logind", answer);
  });
}

Finding foundManager(const BusConnection& bus, const std::string& name) {
  return Finding::works(kSubject, name + " on " + bus.address().text);
}

Finding noManager(const std::string& address, const std::string& reason) {
  return Finding::missing(
      kSubject, address.empty() ? "no system bus" : address,
      {reason, "install libsystemd0 (or libelogind0) and run systemd-logind or elogind on the system bus"});
}

void findManager(BusConnection& bus, const std::function<void(const Finding&)>& answer) {
  bus.call(logind::ownerCall("org.freedesktop.login1"), kDeadline, [&bus, answer](Reply& reply) {
    if (reply.end == CallEnd::kAnswered) return answer(foundManager(bus, "logind"));
    if (!isNobody(reply)) return answer(noManager(bus.address().text, failureText(reply, "the bus")));
    bus.call(logind::ownerCall("org.freedesktop.systemd1"), kDeadline, [&bus, answer](Reply& other) {
      if (other.end == CallEnd::kAnswered) return answer(foundManager(bus, "systemd's manager"));
      answer(noManager(bus.address().text, isNobody(other) ? kNobodyToAsk : failureText(other, "the bus")));
    });
  });
}

}  // namespace

struct PowerControl::State {
  std::shared_ptr<CommandThread::State> thread;
  PowerListener onPlan;
  // Used on the bus thread only.
  bool isListening = false;
  std::shared_ptr<SleepDelay> delay = nullptr;
  std::optional<PowerAction> shutdown = std::nullopt;  // the one that was announced

  // Runs `ask` on the command thread. Returns false when that thread has ended.
  static bool post(const std::shared_ptr<State>& self, std::function<void(BusConnection&)> ask) {
    return postToLoop(self, [ask = std::move(ask)](BusLoop& loop) { ask(loop.systemBus()); });
  }

  static bool postToLoop(const std::shared_ptr<State>& self, std::function<void(BusLoop&)> ask) {
    // A weak reference: the subscription must not keep alive the thread that holds it.
    return self->thread->bus.post([weak = std::weak_ptr(self), ask = std::move(ask)](BusLoop& loop) {
      if (const auto alive = weak.lock(); alive && !std::exchange(alive->isListening, true)) {
        listen(weak, loop.systemBus());
      }
      ask(loop);
    });
  }

  static void listen(const std::weak_ptr<State>& weak, BusConnection& bus) {
    bus.addMatch(logind::kSleepRule, [weak](Signal& signal) {
      const auto isGoing = signal.body.boolean();
      const auto self = weak.lock();
      if (self && isGoing) self->note(*isGoing ? std::optional(PowerAction::kSleep) : std::nullopt);
    });
    for (const char* rule : {logind::kTypedShutdownRule, logind::kShutdownRule}) {
      bus.addMatch(rule, [weak](Signal& signal) {
        const auto isGoing = signal.body.boolean();
        const auto self = weak.lock();
        // The second of two notices repeats the first.
        if (!self || !isGoing || *isGoing == self->shutdown.has_value()) return;
        self->shutdown = *isGoing ? std::optional(logind::readShutdown(signal.body)) : std::nullopt;
        self->note(self->shutdown);
      });
    }
  }

  void note(std::optional<PowerAction> plan) const {
    if (delay) delay->onNotice(plan.has_value());
    onPlan(plan);
  }
};

PowerControl::PowerControl(const CommandThread& thread, PowerListener onPlan)
    : state_(std::make_shared<State>(State{thread.state(), std::move(onPlan)})) {}

PowerControl::~PowerControl() = default;

void PowerControl::support(PowerAction action, const SupportAnswer& answer) {
  if (!State::post(state_, [action, answer](BusConnection& bus) { supportOf(bus, action, answer); }))
    answer({false, kStopping});
}

void PowerControl::inhibitors(const InhibitorsAnswer& answer) {
  const auto ask = [answer](BusConnection& bus) {
    bus.call(logind::inhibitorsCall(), kDeadline, [answer](Reply& reply) {
      // Without logind, or with one that does not know inhibitors, nothing can be inhibited.
      if (isNobody(reply) || logind::isUnknown(reply)) return answer({}, std::nullopt);
      if (reply.end != CallEnd::kAnswered) return answer({}, failureText(reply, "logind"));
      answer(logind::readInhibitors(reply.body), std::nullopt);
    });
  };
  if (!State::post(state_, ask)) answer({}, kStopping);
}

void PowerControl::act(PowerAction action, const ActAnswer& answer) {
  if (!State::post(state_, [action, answer](BusConnection& bus) { hostwire::act(bus, action, answer); }))
    answer(kStopping);
}

void PowerControl::delaySleep(std::string why, const ActAnswer& answer) {
  const auto ask = [weak = std::weak_ptr(state_), why = std::move(why), answer](BusLoop& loop) {
    const auto state = weak.lock();
    if (!state) return answer(kStopping);
    if (!state->delay) state->delay = std::make_shared<SleepDelay>(loop);
    state->delay->hold(why, answer);
  };
  if (!State::postToLoop(state_, ask)) answer(kStopping);
}

void PowerControl::allowSleep() {
  State::postToLoop(state_, [weak = std::weak_ptr(state_)](BusLoop&) {
    if (const auto state = weak.lock(); state && state->delay) state->delay->release();
  });
}

void PowerControl::describeManager(const std::function<void(const Finding&)>& answer) {
  if (!State::post(state_, [answer](BusConnection& bus) { findManager(bus, answer); }))
    answer(noManager("", kStopping));
}

}  // namespace hostwire
