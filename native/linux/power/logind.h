// Calls to logind and to systemd's own manager, and the meaning of their answers: org.freedesktop.login1(5),
// org.freedesktop.systemd1(5).
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

// Select the notices of a shutdown or restart: true before it, false when it was cancelled. systemd 255 sends
// PrepareForShutdownWithMetadata(ba{sv}), which has its type, before PrepareForShutdown(b).
inline constexpr const char* kTypedShutdownRule =
    "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1',"
    "interface='org.freedesktop.login1.Manager',member='PrepareForShutdownWithMetadata'";
inline constexpr const char* kShutdownRule =
    "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1',"
    "interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'";
// Reads the rest of such a notice. Without a type a restart is not told from a shutdown.
PowerAction readShutdown(BodyReader& body);

// Asks whether `action` is possible; logind has no such question for locking.
Call canCall(PowerAction action);
// Interprets the answer to canCall.
PowerSupport supportOf(Reply& reply);

// The calls for `action`, best first: each is tried only if the previous one is unknown to this logind.
//   XWithFlags(16): overrides block inhibitors, also where they bind root (systemd 257)
//   XWithFlags(0): older versions, where they do not bind root
//   X(false): before 246, and elogind; never asks for a password
std::vector<Call> actCalls(PowerAction action);
// Returns whether the callee does not know the call, so that the next may be tried: nothing was done then.
bool isUnknown(const Reply& reply);
// Returns whether the method itself is unknown, rather than its arguments.
bool isMethodUnknown(const Reply& reply);

Call inhibitorsCall();
// Reads block inhibitors only, also weak ones (systemd 257): those bind neither root nor the inhibitor's own
// user, but an action of this service must not pass by them unjudged. At most 256, texts cut after 256 bytes.
std::vector<PowerInhibitor> readInhibitors(BodyReader& body);

// Selects the starts and ends of logind: NameOwnerChanged(sss), whose last text is empty for an end.
inline constexpr const char* kOwnerRule =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
    "arg0='org.freedesktop.login1'";
// Delays sleeps and shutdowns while the descriptor (h) of its answer is open, by InhibitDelayMaxSec= (5 s) at
// most.
Call delayCall(const std::string& why);

Call sessionsCall();
struct Session {
  std::string id;
  double uid;
  bool hasSeat;
};
std::vector<Session> readSessions(BodyReader& body);
Call lockCall(const std::string& session);
Call lockAllCall();

// Returns the call for systemd's manager, which accepts a shutdown or restart without logind; only from root.
// Null for other actions.
std::optional<Call> managerCall(PowerAction action);
Call ownerCall(const std::string& name);

}  // namespace hostwire::logind
