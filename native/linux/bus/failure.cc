// Why a call on the system bus failed: error names are those of the D-Bus specification.
#include "linux/bus/failure.h"

namespace hostwire {

bool isError(const Reply& reply, std::string_view name) {
  return reply.end == CallEnd::kRefused && reply.errorName == name;
}

bool isNobody(const Reply& reply) {
  return isError(reply, "org.freedesktop.DBus.Error.NameHasNoOwner") ||
         isError(reply, "org.freedesktop.DBus.Error.ServiceUnknown");
}

std::string failureText(const Reply& reply, const std::string& who) {
  switch (reply.end) {
    case CallEnd::kAnswered: return who + " sent an answer in an unknown format";
    case CallEnd::kRefused:
      if (isNobody(reply)) return who + " is not on the system bus";
      return who + " refuses: " + reply.errorText;
    case CallEnd::kTimedOut: return who + " does not answer";
    case CallEnd::kLost: return who + " or the system bus ended without an answer";
    case CallEnd::kNoBus: return "no system bus: " + reply.errorText;
  }
  return "";
}

}  // namespace hostwire
