// One lasting connection to a bus: sd_bus_start(3), sd_bus_process(3), sd_bus_call_async(3),
// sd_bus_add_match(3).
#include "linux/bus/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "linux/bus/as_user.h"
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
// Maximum time to connect. sd-bus itself would wait 90 s for a daemon that accepts the connection and sends
// nothing.
constexpr milliseconds kConnectLimit{5000};
// Delay between attempts to reconnect: the service promises to be back within 2 s.
constexpr milliseconds kRetry{1500};
// Minimum time between attempts: a call without a connection triggers one immediately, but not more often
// than this.
constexpr milliseconds kLeastBetween{200};
// Maximum number of messages per turn: a flood on one bus must not delay the other bus, nor other threads'
// requests.
constexpr int kMaxAtOnce = 64;

}  // namespace

BusConnection::BusConnection(BusLoop& loop, BusAddress address, Descriptors descriptors)
    : loop_(loop), address_(std::move(address)), descriptors_(descriptors) {}

BusConnection::~BusConnection() {
  for (const auto& match : matches_) unsubscribe(*match);
  for (auto& [key, pending] : pending_) functions_->slot_unref(pending->slot);
  if (bus_ != nullptr) functions_->close_unref(bus_);
}

bool BusConnection::canOpenNow() const {
  if (state_ == State::kIdle) return true;
  return state_ == State::kDown && BusClock::now() - openedAt_ >= kLeastBetween;
}

// Without a library another attempt would fail in the same way; without an address, until one is known.
bool BusConnection::isWorthTrying() const { return functions_ != nullptr && !address_.text.empty(); }

void BusConnection::open() {
  loop_.cancel(retryTimer_);
  openedAt_ = BusClock::now();
  if (address_.text.empty()) {
    if (!locate_) return lose(address_.reason);
    state_ = State::kConnecting;
    connectTimer_ = loop_.after(kConnectLimit, [this] { lose("its address is not known"); });
    return locate_();
  }
  const sdbus::Library* library = sdbus::findLibrary();
  if (library == nullptr) return lose(sdbus::whyNoLibrary());
  functions_ = &library->functions;
  int result = functions_->create(&bus_);
  if (result >= 0) result = functions_->set_address(bus_, address_.text.c_str());
  if (result >= 0) result = functions_->set_bus_client(bus_, 1);
  // Peers must not fill the table of descriptors where no value is read as a descriptor.
  if (result >= 0) result = functions_->negotiate_fds(bus_, descriptors_ == Descriptors::kAllowed ? 1 : 0);
  // The connection is made within start; the peer's view of our ids is settled by then.
  if (result >= 0)
    result = address_.as ? asUser(*address_.as, [this] { return functions_->start(bus_); })
                         : functions_->start(bus_);
  if (result < 0) return lose("cannot connect to " + address_.text + ": " + errorWords(-result));
  state_ = State::kConnecting;
  connectTimer_ = loop_.after(kConnectLimit, [this] { lose("no answer from " + address_.text); });
}

void BusConnection::rest() {
  loop_.defer([this] {
    if (state_ != State::kReady || isLasting_ || !pending_.empty()) return;
    lose("");
    state_ = State::kIdle;
  });
}

void BusConnection::setLocator(std::function<void()> locate) { locate_ = std::move(locate); }

void BusConnection::relocate(BusAddress address) {
  if (state_ == State::kClosed || (!address.text.empty() && address.text == address_.text)) return;
  address_ = std::move(address);
  if (state_ == State::kIdle) return;
  if (bus_ != nullptr) lose("another user's session is active now");
  if (address_.text.empty()) return lose(address_.reason);
  // Callers that waited for the address now wait for the connection.
  loop_.cancel(connectTimer_);
  if (state_ == State::kConnecting || isLasting_) open();
}

void BusConnection::becomeReady() {
  loop_.cancel(connectTimer_);
  state_ = State::kReady;
  reason_.clear();
  peer_ = rightsOfPeer(functions_->get_fd(bus_));
  for (const auto& match : matches_) subscribe(*match);
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    loop_.cancel(waiting.timer);
    send(waiting.call, waiting.dueAt, std::move(waiting.handler));
  }
  for (std::size_t i = 0; i < watches_.size(); ++i) loop_.defer(watches_[i].onReady);
}

void BusConnection::lose(std::string reason) {
  const bool wasReady = state_ == State::kReady;
  if (state_ != State::kClosed) state_ = State::kDown;
  reason_ = std::move(reason);
  peer_.reset();
  loop_.cancel(connectTimer_);
  for (const auto& match : matches_) unsubscribe(*match);
  auto pending = std::exchange(pending_, {});
  for (auto& [key, call] : pending) functions_->slot_unref(call->slot);
  if (bus_ != nullptr) functions_->close_unref(std::exchange(bus_, nullptr));
  for (auto& [key, call] : pending) failLater(std::move(call->handler), CallEnd::kLost, reason_);
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    loop_.cancel(waiting.timer);
    failLater(std::move(waiting.handler), CallEnd::kNoBus, reason_);
  }
  if (wasReady)
    for (const Watch& watch : watches_) loop_.defer([onLost = watch.onLost, why = reason_] { onLost(why); });
  loop_.cancel(retryTimer_);
  if (isLasting_ && state_ == State::kDown && isWorthTrying())
    retryTimer_ = loop_.after(kRetry, [this] { open(); });
}

void BusConnection::close(const std::string& reason) {
  state_ = State::kClosed;
  loop_.cancel(retryTimer_);
  lose(reason);
}

void BusConnection::pump() {
  for (int i = 0; i < kMaxAtOnce && bus_ != nullptr; ++i) {
    const int result = functions_->process(bus_, nullptr);
    if (result < 0) {
      return lose(state_ == State::kReady
                      ? "the connection was lost: " + errorWords(-result)
                      : "cannot connect to " + address_.text + ": " + errorWords(-result));
    }
    if (state_ == State::kConnecting && functions_->is_ready(bus_) > 0) becomeReady();
    if (result == 0) return;
  }
}

void BusConnection::wantLasting() {
  const bool wasLasting = std::exchange(isLasting_, true);
  if (canOpenNow()) return open();
  if (!wasLasting && state_ == State::kDown && isWorthTrying())
    retryTimer_ = loop_.after(kRetry, [this] { open(); });
}

std::optional<pollfd> BusConnection::pollEntry() const {
  if (bus_ == nullptr) return std::nullopt;
  const int fd = functions_->get_fd(bus_);
  const int events = functions_->get_events(bus_);
  if (fd < 0 || events < 0) return std::nullopt;
  return pollfd{fd, static_cast<short>(events), 0};
}

std::optional<BusClock::time_point> BusConnection::wakeAt() const {
  std::uint64_t dueUs = 0;
  if (bus_ == nullptr || functions_->get_timeout(bus_, &dueUs) <= 0 || dueUs == UINT64_MAX)
    return std::nullopt;
  return BusClock::time_point(microseconds(dueUs));
}

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

void BusConnection::addMatch(std::string rule, SignalHandler handler) {
  matches_.push_back(std::make_unique<Match>(Match{this, nullptr, std::move(rule), std::move(handler)}));
  if (state_ == State::kReady) subscribe(*matches_.back());
  wantLasting();
}

void BusConnection::watch(std::function<void()> onReady, std::function<void(const std::string&)> onLost) {
  if (state_ == State::kReady) loop_.defer(onReady);
  watches_.push_back({std::move(onReady), std::move(onLost)});
  wantLasting();
}

void BusConnection::subscribe(Match& match) {
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
