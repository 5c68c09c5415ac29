// Commands to players: one call each, sent once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "linux/media/mpris.h"
#include "linux/media/mpris_names.h"

namespace hostwire {
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

// Time from a player's answer to the effect: Audacious updates its position four times per second.
constexpr milliseconds kEffectDelay{400};

}  // namespace

std::optional<Call> Mpris::callFor(const std::string& id, MediaVerb verb, double value) const {
  static constexpr std::array<const char*, 6> kMethods{"Play", "Pause", "PlayPause",
                                                       "Stop", "Next",  "Previous"};
  if (verb < MediaVerb::kSeek)
    return Call{id, mpris::kPath, mpris::kPlayer, kMethods.at(static_cast<std::size_t>(verb)), {}};
  if (verb == MediaVerb::kSetVolume)
    return Call{id, mpris::kPath, mpris::kProperties, "Set", {mpris::kPlayer, "Volume", Boxed{value}}};
  const auto microseconds = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e6); };
  const std::lock_guard lock(mutex_);
  const std::string* track = table_.trackIdOf(id);
  // The interface requires the track's own path; some players provide a plain text, or nothing.
  if (track != nullptr && isObjectPath(*track))
    return Call{id, mpris::kPath, mpris::kPlayer, "SetPosition", {ObjectPath{*track}, microseconds(value)}};
  const auto position = table_.positionOf(id, mpris::nowMs());
  if (!position) return std::nullopt;
  return Call{id, mpris::kPath, mpris::kPlayer, "Seek", {microseconds(value - *position)}};
}

void Mpris::control(const std::string& id, MediaVerb verb, double value, milliseconds limit,
                    std::function<void(const MediaReply&)> done) {
  if (!table_.has(id)) {
    done({MediaOutcome::kGone, "it is no longer there"});
    return;
  }
  auto call = callFor(id, verb, value);
  if (!call) {
    done({MediaOutcome::kFailed, "it reports neither its track nor its position"});
    return;
  }
  bus().call(std::move(*call), limit, [this, id, limit, done = std::move(done)](Reply& reply) {
    const bool isThere = table_.has(id);
    const bool hasNoAnswer = reply.end == CallEnd::kRefused || reply.end == CallEnd::kLost;
    done(!isThere && hasNoAnswer ? MediaReply{MediaOutcome::kGone, "it has ended"} : replyOf(reply, limit));
    if (isThere && reply.end == CallEnd::kAnswered) askEffect(id);
  });
}

// Not every player reports the new position or volume, and some answer before they have it.
void Mpris::askEffect(const std::string& owner) {
  askAll(owner);
  std::optional<BusLoop::TimerId>& later = asking_[owner].later;
  if (later) loop_.cancel(*later);
  later = loop_.after(kEffectDelay, [this, owner] {
    const auto asked = asking_.find(owner);
    if (asked == asking_.end()) return;
    asked->second.later.reset();
    askAll(owner);
  });
}

}  // namespace hostwire
