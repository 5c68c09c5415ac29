// Commands as calls (MPRIS D-Bus Interface Specification 2.2), and the outcomes of their replies.
#include "linux/media/mpris_calls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "linux/media/mpris_names.h"

namespace hostwire::mpris {
namespace {

using std::chrono::milliseconds;

// Checks the syntax: D-Bus specification, "Valid Object Paths".
bool isObjectPath(std::string_view text) {
  if (text.empty() || text.front() != '/' || (text.size() > 1 && text.back() == '/')) return false;
  const auto isPart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
  };
  return std::all_of(text.begin(), text.end(), isPart) && text.find("//") == std::string_view::npos;
}

}  // namespace

MediaReply replyOf(const Reply& reply, milliseconds limit) {
  switch (reply.end) {
    case CallEnd::kAnswered: return {MediaOutcome::kDone, ""};
    case CallEnd::kTimedOut:
      return {MediaOutcome::kUnanswered, "it did not answer within " + std::to_string(limit.count()) + " ms"};
    case CallEnd::kLost: return {MediaOutcome::kUnanswered, "no answer: " + reply.errorText};
    case CallEnd::kNoBus: return {MediaOutcome::kGone, reply.errorText};
    case CallEnd::kRefused: break;
  }
  return {MediaOutcome::kFailed, reply.errorName + ": " + reply.errorText};
}

std::optional<Call> callFor(const std::string& owner, MediaVerb verb, double value,
                            const std::string* trackId, std::optional<double> position) {
  static constexpr std::array<const char*, 6> kMethods{"Play", "Pause", "PlayPause",
                                                       "Stop", "Next",  "Previous"};
  if (verb < MediaVerb::kSeek)
    return Call{owner, kPath, kPlayer, kMethods.at(static_cast<std::size_t>(verb)), {}};
  if (verb == MediaVerb::kSetVolume)
    return Call{owner, kPath, kProperties, "Set", {kPlayer, "Volume", Boxed{value}}};
  const auto microseconds = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e6); };
  // The interface requires the track's own path; some players provide a plain text, or nothing.
  if (trackId != nullptr && isObjectPath(*trackId))
    return Call{owner, kPath, kPlayer, "SetPosition", {ObjectPath{*trackId}, microseconds(value)}};
  if (!position) return std::nullopt;
  return Call{owner, kPath, kPlayer, "Seek", {microseconds(value - *position)}};
}

}  // namespace hostwire::mpris
