// Commands to players: one call each, made once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "windows/media/smtc.h"
#include "windows/media/smtc_ids.h"
#include "windows/win32/error_text.h"

namespace hostwire {
namespace {

// Maximum number of commands that a player may leave unanswered: each is remembered until it is answered.
constexpr int kMaxUnanswered = 8;
constexpr double kTicksPerSecond = 1e7;
// Errors of a call when the player, or its part of Windows, is gone (winerror.h).
constexpr HRESULT kServerUnavailable = static_cast<HRESULT>(0x800706BAU);

MediaReply replyOf(HRESULT code) {
  if (SUCCEEDED(code)) return {MediaOutcome::kDone, ""};
  const bool isGone =
      code == RPC_E_DISCONNECTED || code == RPC_E_SERVER_DIED_DNE || code == kServerUnavailable;
  return {isGone ? MediaOutcome::kGone : MediaOutcome::kFailed,
          windowsErrorText(static_cast<unsigned long>(code))};
}

// Returns whether this is its current state, because players may refuse a request for it.
bool isSo(smtc::Session& session, MediaVerb verb) {
  if (verb != MediaVerb::kPlay && verb != MediaVerb::kPause) return false;
  const auto playback = smtc::readPlayback(session);
  const SessionStatus wanted = verb == MediaVerb::kPlay ? SessionStatus::kPlaying : SessionStatus::kPaused;
  return playback && playback->status == static_cast<int>(wanted);
}

// `value` is a number of seconds from a client.
smtc::Ticks ticksOf(double value, std::int64_t start) {
  constexpr double kMaxSeconds = 1e8;
  return start + static_cast<smtc::Ticks>(std::clamp(value, 0.0, kMaxSeconds) * kTicksPerSecond);
}

}  // namespace

void Smtc::control(const std::string& id, MediaVerb verb, double value,
                   std::function<void(const MediaReply&)> done) {
  const bool isPosted = loop_->post([weak = weak_from_this(), id, verb, value, done] {
    if (const auto self = weak.lock()) self->command(id, verb, value, done);
  });
  if (!isPosted) done({MediaOutcome::kGone, "the service is stopping"});
}

void Smtc::command(const std::string& id, MediaVerb verb, double value,
                   const std::function<void(const MediaReply&)>& done) {
  const auto found = players_.find(id);
  if (found == players_.end()) return done({MediaOutcome::kGone, "it is no longer there"});
  Player& player = found->second;
  if (player.unanswered >= kMaxUnanswered)
    return done({MediaOutcome::kFailed, "it has not answered the previous commands"});
  if (isSo(*player.session.get(), verb)) return done({MediaOutcome::kDone, ""});
  std::int64_t start = 0;
  {
    const std::lock_guard lock(mutex_);
    start = table_.startOf(id);
  }
  Command command{id, verb, {}, done};
  HRESULT code = smtc::start(*player.session.get(), verb, ticksOf(value, start), command.operation);
  const std::uint64_t number = ++lastCommand_;
  if (SUCCEEDED(code))
    code = whenCompleted(*command.operation.get(), smtc::kBooleanCompleted,
                         [number](Smtc& self, int status) { self.onCommanded(number, status); });
  if (FAILED(code)) return done(replyOf(code));
  ++player.unanswered;
  underWay_.emplace(number, std::move(command));
}

void Smtc::onCommanded(std::uint64_t number, int status) {
  const auto found = underWay_.find(number);
  if (found == underWay_.end()) return;
  const Command command = std::move(found->second);
  underWay_.erase(found);
  smtc::Boolean isTaken = 0;
  const HRESULT code = status == smtc::kAsyncCompleted ? command.operation->getResults(&isTaken)
                                                       : smtc::errorOf(*command.operation.get());
  if (status == smtc::kAsyncCanceled)
    command.done({MediaOutcome::kFailed, "Windows cancelled it"});
  else if (SUCCEEDED(code) && isTaken == 0)
    command.done({MediaOutcome::kFailed, "it refused"});
  else
    command.done(replyOf(code));
  const auto player = players_.find(command.id);
  if (player == players_.end()) return;
  --player->second.unanswered;
  // Not every player reports the new position.
  if (command.verb == MediaVerb::kSeek && player->second.events->add(smtc::kTimelineNews)) onNews(command.id);
}

}  // namespace hostwire
