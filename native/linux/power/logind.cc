// Calls to logind and their answers.
#include "linux/power/logind.h"

#include <utility>

#include "linux/bus/failure.h"
#include "linux/bus/message.h"

namespace hostwire::logind {
namespace {

constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kMaxTextBytes = 256;
// SD_LOGIND_SKIP_INHIBITORS
constexpr std::uint64_t kSkipInhibitors = 16;

constexpr const char* kManager = "org.freedesktop.login1.Manager";

Call managerMethod(const char* member, std::vector<Argument> arguments = {}) {
  return {"org.freedesktop.login1", "/org/freedesktop/login1", kManager, member, std::move(arguments)};
}

const char* methodOf(PowerAction action) {
  switch (action) {
    case PowerAction::kShutdown: return "PowerOff";
    case PowerAction::kRestart: return "Reboot";
    case PowerAction::kSleep: return "Suspend";
    case PowerAction::kHibernate: return "Hibernate";
    case PowerAction::kLock: break;
  }
  return "LockSessions";
}

PowerSupport refusal(std::string reason) { return {false, std::move(reason)}; }

}  // namespace

Call canCall(PowerAction action) { return managerMethod((std::string("Can") + methodOf(action)).c_str()); }

PowerSupport supportOf(Reply& reply) {
  if (isUnknown(reply)) return refusal("this version of logind does not support it");
  if (reply.end != CallEnd::kAnswered) return refusal(failureText(reply, "logind"));
  const std::string answer = reply.body.text(kMaxTextBytes).value_or("");
  // Inhibitors are judged separately, by holder and reason.
  if (answer == "yes" || answer == "inhibited" || answer == "inhibitor-blocked") return {true, ""};
  if (answer == "na")
    return refusal(
        "logind reports that this machine cannot do it (na: no hardware, kernel support or swap for it)");
  if (answer == "no")
    return refusal("logind does not allow this user to do it (no); a polkit rule can allow it");
  // The call would fail, because a service cannot be asked for a password.
  if (answer == "challenge" || answer == "challenge-inhibitor-blocked")
    return refusal("logind would ask this user for an administrator's password (" + answer +
                   "); a polkit rule can allow it");
  return refusal("logind gave an unknown answer: " + oneLine(answer));
}

std::vector<Call> actCalls(PowerAction action) {
  if (action == PowerAction::kLock) return {lockAllCall()};
  const std::string method = methodOf(action);
  const std::string withFlags = method + "WithFlags";
  return {managerMethod(withFlags.c_str(), {BasicArgument(kSkipInhibitors)}),
          managerMethod(withFlags.c_str(), {BasicArgument(std::uint64_t{0})}),
          managerMethod(method.c_str(), {BasicArgument(false)})};
}

bool isUnknown(const Reply& reply) {
  // Unknown flags are refused before anything else is checked.
  return isMethodUnknown(reply) || isError(reply, "org.freedesktop.DBus.Error.InvalidArgs");
}

bool isMethodUnknown(const Reply& reply) {
  return isError(reply, "org.freedesktop.DBus.Error.UnknownMethod");
}

Call inhibitorsCall() { return managerMethod("ListInhibitors"); }

std::vector<PowerInhibitor> readInhibitors(BodyReader& body) {
  std::vector<PowerInhibitor> found;
  body.array(kMaxEntries, [&] {
    body.structure([&] {
      PowerInhibitor inhibitor;
      inhibitor.what = body.text(kMaxTextBytes).value_or("");
      inhibitor.who = body.text(kMaxTextBytes).value_or("");
      inhibitor.why = body.text(kMaxTextBytes).value_or("");
      const std::string mode = body.text(kMaxTextBytes).value_or("");
      const auto uid = body.number();
      // A user id has 32 bits; any other value must not be taken for root's.
      constexpr std::uint32_t kNobody = UINT32_MAX;
      inhibitor.uid = uid && *uid >= 0 && *uid < kNobody ? static_cast<std::uint32_t>(*uid) : kNobody;
      if (mode == "block" || mode == "block-weak") found.push_back(std::move(inhibitor));
    });
  });
  return found;
}

PowerAction readShutdown(BodyReader& body) {
  std::string type;
  body.dictionary(kMaxEntries, [&](std::string_view key) {
    if (key == "type") body.variant([&] { type = body.text(kMaxTextBytes).value_or(""); });
  });
  const bool isRestart = type == "reboot" || type == "kexec" || type == "soft-reboot";
  return isRestart ? PowerAction::kRestart : PowerAction::kShutdown;
}

Call delayCall(const std::string& why) {
  const auto text = [](const char* value) { return BasicArgument(std::string(value)); };
  return managerMethod("Inhibit",
                       {text("sleep:shutdown"), text("hostwire"), BasicArgument(why), text("delay")});
}

Call sessionsCall() { return managerMethod("ListSessions"); }

std::vector<Session> readSessions(BodyReader& body) {
  std::vector<Session> sessions;
  body.array(kMaxEntries, [&] {
    body.structure([&] {
      const auto id = body.text(kMaxTextBytes);
      const auto uid = body.number();
      body.skip();
      const auto seat = body.text(kMaxTextBytes);
      if (id && uid) sessions.push_back({*id, *uid, seat && !seat->empty()});
    });
  });
  return sessions;
}

Call lockCall(const std::string& session) { return managerMethod("LockSession", {BasicArgument(session)}); }

Call lockAllCall() { return managerMethod("LockSessions"); }

std::optional<Call> managerCall(PowerAction action) {
  if (action != PowerAction::kShutdown && action != PowerAction::kRestart) return std::nullopt;
  const std::string unit = action == PowerAction::kShutdown ? "poweroff.target" : "reboot.target";
  // Its own PowerOff and Reboot kill all processes immediately; starting the target stops the services in
  // order.
  return Call{"org.freedesktop.systemd1",
              "/org/freedesktop/systemd1",
              "org.freedesktop.systemd1.Manager",
              "StartUnit",
              {BasicArgument(unit), BasicArgument(std::string("replace-irreversibly"))}};
}

Call ownerCall(const std::string& name) {
  return {"org.freedesktop.DBus",
          "/org/freedesktop/DBus",
          "org.freedesktop.DBus",
          "GetNameOwner",
          {BasicArgument(name)}};
}

}  // namespace hostwire::logind
