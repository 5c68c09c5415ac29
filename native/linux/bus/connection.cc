// One lasting connection to a bus: sd_bus_start(3), sd_bus_call_async(3), sd_bus_add_match(3).
#include "linux/bus/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "linux/bus/loop.h"
#include "linux/bus/message.h"
#include "linux/bus/sd_bus.h"

namespace hostwire {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Maximum time that a caller waits for a connection that is being made; it takes less than a millisecond.
constexpr milliseconds kPatience{1000};
// The library reports a timeout and a loss under the same name: a call that ends this close to its deadline
// has timed out.
constexpr milliseconds kTimerSlack{5};

}  // namespace

void BusConnection::failLater(ReplyHandler handler, CallEnd end, std::string reason) {
  loop_.defer([handler = std::move(handler), end, reason = std::move(reason)] {
    Reply reply{end, "", reason, {}};
    handler(reply);
  });
}

void BusConnection::call(Call call, milliseconds deadline, ReplyHandler handler) {
  const auto dueAt = BusClock::now() + deadline;
  if (canOpenNow()) open();
  if (state_ == State::kReady) return send(call, dueAt, std::move(handler));
  // A daemon that accepted the connection but sends nothing gets no more time.
  if (state_ == State::kConnecting && BusClock::now() - openedAt_ < kPatience)
    return waitForBus(std::move(call), std::min(dueAt, openedAt_ + kPatience), std::move(handler));
  failLater(std::move(handler), CallEnd::kNoBus,
            state_ == State::kConnecting ? "no answer from " + address_.text : reason_);
}

void BusConnection::waitForBus(Call call, BusClock::time_point dueAt, ReplyHandler handler) {
  const std::uint64_t id = ++lastId_;
  const auto wait = std::chrono::ceil<milliseconds>(dueAt - BusClock::now());
  const auto timer = loop_.after(wait, [this, id] { stopWaiting(id, "no answer from " + address_.text); });
  waiting_.push_back({id, std::move(call), dueAt, std::move(handler), timer});
}

void BusConnection::stopWaiting(std::uint64_t id, const std::string& reason) {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [id](const Waiting& each) { return each.id == id; });
  if (found == waiting_.end()) return;
  failLater(std::move(found->handler), CallEnd::kNoBus, reason);
  waiting_.erase(found);
}

void BusConnection::send(const Call& call, BusClock::time_point dueAt, ReplyHandler handler) {
  const OwnedMessage message = writeCall(*functions_, bus_, call);
  if (!message) return failLater(std::move(handler), CallEnd::kNoBus, "the call cannot be written");
  auto pending = std::make_unique<Pending>(Pending{this, nullptr, std::move(handler), dueAt});
  // 0 would mean the library's default of 25 s.
  const auto left =
      std::max(microseconds{1}, std::chrono::duration_cast<microseconds>(dueAt - BusClock::now()));
  const int result = functions_->call_async(bus_, &pending->slot, message.get(), onReply, pending.get(),
                                            static_cast<std::uint64_t>(left.count()));
  if (result < 0) {
    return failLater(std::move(pending->handler), CallEnd::kNoBus,
                     "the call cannot be sent: " + errorWords(-result));
  }
  Pending* const key = pending.get();
  pending_.emplace(key, std::move(pending));
}

int BusConnection::onReply(sdbus::Message* message, void* data, sdbus::Error*) {
  auto* const key = static_cast<Pending*>(data);
  BusConnection& self = *key->owner;
  const auto found = self.pending_.find(key);
  if (found == self.pending_.end()) return 0;
  const auto pending = std::move(found->second);
  self.pending_.erase(found);
  Reply reply{CallEnd::kAnswered, "", "", {}};
  if (const sdbus::Error* error = self.functions_->message_get_error(message)) {
    reply.end = CallEnd::kRefused;
    reply.errorName = error->name != nullptr ? cutText(error->name, 255) : "";
    reply.errorText = oneLine(error->message != nullptr ? error->message : reply.errorName);
    // The library uses this name for both; a daemon sends it too, when a peer disappears without answering.
    if (reply.errorName == "org.freedesktop.DBus.Error.NoReply") {
      const bool isDue = BusClock::now() >= pending->dueAt - kTimerSlack;
      reply.end = isDue ? CallEnd::kTimedOut : CallEnd::kLost;
    }
  } else {
    reply.body = BodyReader(*self.functions_, message);
  }
  try {
    pending->handler(reply);
  } catch (...) {
    // Nothing may be thrown through the library's C code.
  }
  self.functions_->slot_unref(pending->slot);
  return 0;
}

BusConnection::MatchId BusConnection::addMatch(std::string rule, SignalHandler handler) {
  const MatchId id = ++lastId_;
  auto match = std::make_unique<Match>(Match{this, nullptr, std::move(rule), std::move(handler), false});
  if (state_ == State::kReady) subscribe(*match);
  matches_.emplace(id, std::move(match));
  wantLasting();
  return id;
}

void BusConnection::removeMatch(MatchId id) {
  const auto found = matches_.find(id);
  if (found == matches_.end()) return;
  unsubscribe(*found->second);
  found->second->isRemoved = true;
  // The handler may remove itself.
  loop_.defer([this, id] { matches_.erase(id); });
}

void BusConnection::watch(std::function<void()> onReady, std::function<void(const std::string&)> onLost) {
  if (state_ == State::kReady) loop_.defer(onReady);
  watches_.push_back({std::move(onReady), std::move(onLost)});
  wantLasting();
}

void BusConnection::subscribe(Match& match) {
  if (match.isRemoved) return;
  functions_->add_match_async(bus_, &match.slot, match.rule.c_str(), onSignal, onSubscribed, &match);
}

void BusConnection::unsubscribe(Match& match) {
  if (match.slot != nullptr) functions_->slot_unref(std::exchange(match.slot, nullptr));
}

int BusConnection::onSignal(sdbus::Message* message, void* data, sdbus::Error*) {
  auto* const match = static_cast<Match*>(data);
  const sdbus::Functions& functions = *match->owner->functions_;
  const auto orEmpty = [](const char* text) { return text != nullptr ? text : ""; };
  Signal signal{orEmpty(functions.message_get_sender(message)), orEmpty(functions.message_get_path(message)),
                orEmpty(functions.message_get_member(message)), BodyReader(functions, message)};
  try {
    match->handler(signal);
  } catch (...) {
    // Nothing may be thrown through the library's C code.
  }
  return 0;
}

// Exists so that the library does not close a connection whose bus refuses a match rule.
int BusConnection::onSubscribed(sdbus::Message*, void*, sdbus::Error*) { return 0; }

}  // namespace hostwire
