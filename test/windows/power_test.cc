// Power as native/windows gives it to the addon, with functions made up here in place of Windows': which
// calls it makes, with which arguments, and the reason it gives for each refusal. Compiled and run by
// power.test.ts.
#include <windows.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "host/command_thread.h"
#include "host/power.h"
#include "windows/power/calls.h"
#include "windows/power/support.h"

namespace {

using checks::check;
using checks::comes;
using checks::equal;
using hostwire::PowerAction;
using hostwire::PowerSupport;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// This Windows.
struct Fake {
  DWORD privilegeError = 0;
  std::array<unsigned char, 76> capabilities{};
  LONG capabilitiesStatus = 0;
  DWORD session = 1;
  DWORD error = 0;  // of every call
  int sleepMs = 0;  // how long a call takes
  std::vector<std::string> asked;
  hostwire::SuspendResumeRecipient recipient{};
  DWORD listenError = 0;
  int listening = 0;
};
Fake fake;

std::string number(unsigned long value) { return std::to_string(value); }

BOOL act(const std::string& text) {
  fake.asked.push_back(text);
  std::this_thread::sleep_for(milliseconds{fake.sleepMs});
  SetLastError(fake.error);
  return fake.error == 0 ? TRUE : FALSE;
}

LONG WINAPI powerInformation(POWER_INFORMATION_LEVEL level, void* input, ULONG inputBytes, void* output,
                             ULONG outputBytes) {
  check(level == SystemPowerCapabilities && input == nullptr && inputBytes == 0 && outputBytes == 76,
        "capabilities are asked for");
  std::copy(fake.capabilities.begin(), fake.capabilities.end(), static_cast<unsigned char*>(output));
  return fake.capabilitiesStatus;
}
BOOL WINAPI initiateSystemShutdown(LPWSTR machine, LPWSTR message, DWORD seconds, BOOL isForced,
                                   BOOL isRestart, DWORD reason) {
  check(machine == nullptr && message == nullptr, "this machine, without a message");
  return act("shutdown " + number(seconds) + " " + number(static_cast<unsigned>(isForced)) + " " +
             number(static_cast<unsigned>(isRestart)) + " " + number(reason));
}
BOOLEAN WINAPI setSuspendState(BOOLEAN isHibernation, BOOLEAN isForced, BOOLEAN areWakeEventsDisabled) {
  return act("suspend " + number(isHibernation) + " " + number(isForced) + " " +
             number(areWakeEventsDisabled)) != 0;
}
BOOL WINAPI lockWorkStation() { return act("lock"); }
BOOL WINAPI processIdToSessionId(DWORD pid, DWORD* session) {
  check(pid == GetCurrentProcessId(), "its own session");
  *session = fake.session;
  return TRUE;
}
DWORD WINAPI registerSuspendResume(DWORD flags, HANDLE recipient, HPOWERNOTIFY* registration) {
  check(flags == 2, "by a callback");
  if (fake.listenError != 0) return fake.listenError;
  fake.recipient = *static_cast<hostwire::SuspendResumeRecipient*>(recipient);
  *registration = reinterpret_cast<HPOWERNOTIFY>(&fake);
  ++fake.listening;
  return ERROR_SUCCESS;
}
DWORD WINAPI unregisterSuspendResume(HPOWERNOTIFY registration) {
  check(registration == reinterpret_cast<HPOWERNOTIFY>(&fake), "its own registration");
  --fake.listening;
  return ERROR_SUCCESS;
}

}  // namespace

// In place of that of native/windows/power/calls.cc.
namespace hostwire {
const PowerCalls& systemPowerCalls() {
  static const PowerCalls calls{[] { return fake.privilegeError; },
                                &powerInformation,
                                &initiateSystemShutdown,
                                &setSuspendState,
                                &lockWorkStation,
                                &processIdToSessionId,
                                &registerSuspendResume,
                                &unregisterSuspendResume};
  return calls;
}
}  // namespace hostwire

namespace {

struct Rig {
  hostwire::CommandThread thread;
  std::vector<bool> signs;
  std::atomic<int> signCount{0};
  std::unique_ptr<hostwire::PowerControl> power;

  Rig() {
    power =
        std::make_unique<hostwire::PowerControl>(thread, [this](std::optional<hostwire::PowerAction> plan) {
          signs.push_back(plan.has_value());
          ++signCount;
        });
  }
  ~Rig() {
    thread.stop();
    power.reset();
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  PowerSupport support(PowerAction action) {
    PowerSupport found;
    std::atomic<int> answers{0};
    power->support(action, [&](const PowerSupport& support) {
      found = support;
      ++answers;
    });
    check(comes([&] { return answers == 1; }), "support is told once");
    return found;
  }
  // Returns the reason for a refusal; empty: done.
  std::string act(PowerAction action) {
    struct Answer {
      std::string text;
      std::atomic<int> times{0};
    };
    const auto answer = std::make_shared<Answer>();
    power->act(action, [answer](const std::optional<std::string>& failure) {
      answer->text = failure.value_or("");
      ++answer->times;
    });
    check(comes([&] { return answer->times == 1; }), "an act is answered");
    return answer->text;
  }
};

constexpr std::array<PowerAction, 5> kAll{PowerAction::kShutdown, PowerAction::kRestart, PowerAction::kSleep,
                                          PowerAction::kHibernate, PowerAction::kLock};

void checkSupport() {
  Rig rig;
  fake = {};
  fake.capabilities[5] = 1;
  fake.capabilities[6] = 1;
  fake.capabilities[8] = 1;
  for (const PowerAction action : kAll)
    check(rig.support(action).isSupported, "a machine that can everything");
  fake.capabilities = {};
  check(rig.support(PowerAction::kShutdown).isSupported, "it can always be switched off");
  equal(rig.support(PowerAction::kSleep).reason, "this machine has no sleep state", "no sleep");
  equal(rig.support(PowerAction::kHibernate).reason, "this machine cannot hibernate", "no S4");
  fake.capabilities[6] = 1;
  equal(rig.support(PowerAction::kHibernate).reason,
        "hibernation is disabled on this machine: there is no hibernation file", "no file");
  fake.capabilities[20] = 1;
  check(rig.support(PowerAction::kSleep).reason.find("Modern Standby") != std::string::npos,
        "Modern Standby");
  for (const std::size_t state : {3, 4, 5}) {
    fake.capabilities = {};
    fake.capabilities[state] = 1;
    check(rig.support(PowerAction::kSleep).isSupported, "S1, S2 or S3");
  }
  fake.capabilitiesStatus = static_cast<LONG>(0xC0000002U);
  check(rig.support(PowerAction::kSleep).reason.find("0xc0000002") != std::string::npos,
        "capabilities unknown");
  fake.capabilitiesStatus = 0;
  fake.privilegeError = ERROR_NOT_ALL_ASSIGNED;
  for (const PowerAction action : {PowerAction::kShutdown, PowerAction::kSleep})
    equal(rig.support(action).reason,
          "this user does not have the right to shut the machine down (SeShutdownPrivilege)", "no right");
  check(rig.support(PowerAction::kLock).isSupported, "to lock takes none");
  fake.privilegeError = ERROR_ACCESS_DENIED;
  check(rig.support(PowerAction::kShutdown).reason.find("(5)") != std::string::npos, "another error");
  fake.session = 0;
  check(rig.support(PowerAction::kLock).reason.find("session 0") != std::string::npos,
        "nothing to lock there");
}

void checkActs() {
  Rig rig;
  fake = {};
  for (const PowerAction action : kAll) equal(rig.act(action), "", "done");
  const std::vector<std::string> wanted{"shutdown 0 1 0 2147483648", "shutdown 0 1 1 2147483648",
                                        "suspend 0 0 0", "suspend 1 0 0", "lock"};
  check(fake.asked == wanted, "each with its arguments, once");
  fake.error = ERROR_ACCESS_DENIED;
  check(rig.act(PowerAction::kShutdown).find("InitiateSystemShutdownEx: ") == 0, "a refused shutdown");
  check(rig.act(PowerAction::kSleep).find("SetSuspendState: ") == 0, "a refused sleep");
  check(rig.act(PowerAction::kLock).find("LockWorkStation: ") == 0, "a refused lock");
  fake.asked.clear();
  fake.privilegeError = ERROR_NOT_ALL_ASSIGNED;
  check(rig.act(PowerAction::kRestart).find("SeShutdownPrivilege: ") == 0, "without the right");
  check(fake.asked.empty(), "nothing is asked");
  fake = {};
  fake.sleepMs = 1500;
  auto begin = Clock::now();
  equal(rig.act(PowerAction::kSleep), "", "a call that lasts as long as the sleep: taken");
  check(Clock::now() - begin < milliseconds{1450}, "and said before it returns");
  begin = Clock::now();
  check(rig.act(PowerAction::kShutdown).find("it may still be carried out") != std::string::npos,
        "no answer");
  check(rig.support(PowerAction::kShutdown).isSupported, "others are answered meanwhile");
  std::this_thread::sleep_for(milliseconds{1700});
}

void checkSigns() {
  fake = {};
  {
    Rig rig;
    check(fake.listening == 0, "nobody listens before the first question");
    rig.support(PowerAction::kLock);
    check(fake.listening == 1, "then somebody does");
    rig.support(PowerAction::kLock);
    check(fake.listening == 1, "once");
    const auto sign = [](ULONG type) { fake.recipient.callback(fake.recipient.context, type, nullptr); };
    for (const ULONG type : {4UL, 0x12UL, 7UL, 10UL}) sign(type);
    check(comes([&] { return rig.signCount == 2; }), "two signs of four events");
    check(rig.signs == std::vector<bool>{true, false}, "asleep, awake");
  }
  check(fake.listening == 0, "it ends with the control");
  // A signal that was already on its way.
  fake.recipient.callback(fake.recipient.context, 4, nullptr);
  fake.listenError = ERROR_ACCESS_DENIED;
  {
    Rig rig;
    check(rig.support(PowerAction::kLock).isSupported, "without news the rest goes on");
  }
  check(fake.listening == 0, "and nothing is taken back");
}

void checkRest() {
  Rig rig;
  std::atomic<int> answers{0};
  rig.power->inhibitors([&](const auto& list, const auto& failure) {
    check(list.empty() && !failure, "nobody holds it up");
    ++answers;
  });
  rig.power->describe([&](const hostwire::Findings& findings) {
    check(findings.size() == 6, "the power manager and five actions");
    equal(findings.front().source, "Windows on this machine", "the power manager");
    ++answers;
  });
  rig.power->delaySleep("a reason", [&](const auto& failure) {
    equal(failure.value_or(""), "Windows has no inhibitor that delays a sleep", "no sleep waits");
    ++answers;
  });
  rig.power->allowSleep();
  check(comes([&] { return answers == 3; }), "all three");
  rig.thread.stop();
  rig.power->delaySleep("a reason", [&](const auto& failure) {
    equal(failure.value_or(""), "the service is stopping", "after the end");
    ++answers;
  });
  rig.power->support(PowerAction::kLock, [&](const PowerSupport& support) {
    equal(support.reason, "the service is stopping", "after the end");
    ++answers;
  });
  rig.power->act(PowerAction::kLock, [&](const auto& failure) {
    equal(failure.value_or(""), "the service is stopping", "after the end");
    ++answers;
  });
  rig.power->inhibitors([&](const auto&, const auto& failure) {
    equal(failure.value_or(""), "the service is stopping", "after the end");
    ++answers;
  });
  rig.power->describe([&](const hostwire::Findings& findings) {
    check(findings.size() == 1, "no action then");
    equal(findings.front().obstacle.reason, "the service is stopping", "after the end");
    ++answers;
  });
  check(answers == 8, "at once");
}

// The real privilege: the token has it, and then it is removed for good.
void checkPrivilege() {
  check(hostwire::enableShutdownPrivilege() == ERROR_SUCCESS, "this user has the right");
  HANDLE token = nullptr;
  check(OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &token) != 0,
        "its token");
  TOKEN_PRIVILEGES removed{};
  removed.PrivilegeCount = 1;
  removed.Privileges[0].Attributes = SE_PRIVILEGE_REMOVED;
  LookupPrivilegeValueW(nullptr, SE_SHUTDOWN_NAME, &removed.Privileges[0].Luid);
  check(AdjustTokenPrivileges(token, FALSE, &removed, 0, nullptr, nullptr) != 0, "is changed");
  CloseHandle(token);
  check(hostwire::enableShutdownPrivilege() == ERROR_NOT_ALL_ASSIGNED, "and it has the right no more");
}

}  // namespace

int main() {
  checkSupport();
  checkActs();
  checkSigns();
  checkRest();
  checkPrivilege();
  return checks::report();
}
