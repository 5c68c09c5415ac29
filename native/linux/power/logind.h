// What is said to logind and to systemd's own manager, and what their answers mean:
// org.freedesktop.login1(5), org.freedesktop.systemd1(5).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/power.h"
#include "linux/bus/call.h"

namespace hostwire::logind {

// Selects PrepareForSleep(b): true before the machine sleeps, false when it has woken.
inline constexpr const char* kSleepRule =
    "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1',"
    "interface='org.freedesktop.login1.Manager',member='PrepareForSleep'";

// Asks whether `action` is possible; of locking there is no such question.
Call canCall(PowerAction action);
// What the answer to canCall means.
PowerSupport supportOf(Reply& reply);

// The ways to have `action` done, best first: the next one is only for who does not know the one before.
//   XWithFlags(16): past block inhibitors, also for root where they bind root (systemd 257)
//   XWithFlags(0): older ones, where they don't bind root
//   X(false): before 246, and elogind; never asks for a password
std::vector<Call> actCalls(PowerAction action);
// Whether the one who answered does not know the call, so that the next may be tried: nothing was done then.
bool isUnknown(const Reply& reply);
// Whether it is the method itself, not its arguments.
bool isMethodUnknown(const Reply& reply);

Call inhibitorsCall();
// Block inhibitors only; at most 256, texts cut after 256 bytes.
std::vector<PowerInhibitor> readInhibitors(BodyReader& body);

Call sessionsCall();
struct Session {
  std::string id;
  double uid;
  bool hasSeat;
};
std::vector<Session> readSessions(BodyReader& body);
Call lockCall(const std::string& session);
Call lockAllCall();

// systemd's manager takes a shutdown or restart where there is no logind; only from root. Null for what it
// can't.
std::optional<Call> managerCall(PowerAction action);
Call ownerCall(const std::string& name);

// Nobody has the name that was called.
bool isNobody(const Reply& reply);
// Why a call has failed, as a sentence about `who` without a full stop.
std::string failureText(const Reply& reply, const std::string& who);

}  // namespace hostwire::logind
