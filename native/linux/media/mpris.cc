// The players of the session bus.
#include "linux/media/mpris.h"

#include <algorithm>
#include <cmath>

#include "linux/media/mpris_calls.h"
#include "linux/media/mpris_names.h"
#include "linux/media/mpris_news.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPrefix = "org.mpris.MediaPlayer2.";

// Time limit for the daemon, which answers quickly or not at all.
constexpr milliseconds kBusLimit{1000};
// Time limit for the players that exist at the start; a later answer still counts.
constexpr milliseconds kSettleLimit{1000};
// D-Bus names have at most 255 bytes.
constexpr std::size_t kMaxNameBytes = 255;
// Maximum number of names, because a bus may have any number: those beyond it are ignored.
constexpr std::size_t kMaxNames = 100'000;
// Time from a player's answer to the effect: Audacious updates its position four times per second.
constexpr milliseconds kEffectDelay{400};

// Returns the player's own name within a bus name; empty when it is not a player's.
std::string_view playerNameOf(std::string_view name) {
  return name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size()) : std::string_view();
}

}  // namespace

void Mpris::start() {
  // From here on the loop owns this object.
  const auto self = shared_from_this();
  bus().addMatch(
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0namespace='org.mpris.MediaPlayer2'",
      [self](Signal& signal) { self->onOwnerChanged(signal.body); });
  bus().addMatch(
      "type='signal',path='/org/mpris/MediaPlayer2',interface='org.freedesktop.DBus.Properties',"
      "member='PropertiesChanged',arg0='org.mpris.MediaPlayer2.Player'",
      [this](Signal& signal) { onPropertiesChanged(std::string(signal.sender), signal.body); });
  bus().addMatch(
      "type='signal',path='/org/mpris/MediaPlayer2',interface='org.mpris.MediaPlayer2.Player',"
      "member='Seeked'",
      [this](Signal& signal) { onSeeked(std::string(signal.sender), signal.body); });
  bus().watch([this] { onReady(); }, [this](const std::string& reason) { onLost(reason); });
  // A bus that was never connected cannot be lost: this call reports it.
  bus().call({mpris::kBusName, mpris::kBusPath, mpris::kBusName, "GetId", {}}, kBusLimit,
             [this](Reply& reply) {
               if (reply.end == CallEnd::kNoBus) onLost(reply.errorText);
             });
}

// The matches are in force now, so no player that appears or changes from here on is missed.
void Mpris::onReady() {
  {
    const std::lock_guard lock(mutex_);
    table_.clear();
    users_.begin(bus().peer(), bus().address().as);
    absence_.reset();
    isSettled_ = false;
  }
  questions_.clear();
  findings_ = 0;
  isListing_ = false;
  connectedMs_ = mpris::nowMs();
  settleTimer_ = loop_.after(kSettleLimit, [this] { settle(); });
  list();
}

void Mpris::onLost(const std::string& reason) {
  questions_.clear();
  if (settleTimer_) loop_.cancel(*std::exchange(settleTimer_, std::nullopt));
  {
    const std::lock_guard lock(mutex_);
    table_.clear();
    users_.begin(std::nullopt, std::nullopt);
    absence_ = reason;
    isSettled_ = true;
  }
  onChange_();
}

void Mpris::list() {
  if (std::exchange(isListing_, true)) return;
  bus().call({mpris::kBusName, mpris::kBusPath, mpris::kBusName, "ListNames", {}}, kBusLimit,
             [this](Reply& reply) {
               isListing_ = false;
               if (reply.end == CallEnd::kAnswered) takeNames(reply.body);
               notify();
             });
}

void Mpris::takeNames(BodyReader& body) {
  std::vector<std::string> names;
  body.array(kMaxNames, [&] {
    auto name = body.text(kMaxNameBytes);
    if (name && !playerNameOf(*name).empty()) names.push_back(std::move(*name));
  });
  // Names beyond the limit are only counted; which ones does not depend on the daemon.
  std::sort(names.begin(), names.end());
  std::vector<std::string> wanted;
  {
    const std::lock_guard lock(mutex_);
    std::size_t left = table_.remaining();
    std::uint32_t leftOut = 0;
    for (auto& name : names) {
      if (table_.hasName(playerNameOf(name))) continue;
      if (left == 0) {
        ++leftOut;
        continue;
      }
      --left;
      wanted.push_back(std::move(name));
    }
    table_.setLeftOut(leftOut);
  }
  for (const auto& name : wanted) findOwner(name);
}

void Mpris::findOwner(const std::string& name) {
  ++findings_;
  bus().call({mpris::kBusName, mpris::kBusPath, mpris::kBusName, "GetNameOwner", {name}}, kBusLimit,
             [this, name](Reply& reply) {
               --findings_;
               // Without an answer it has left in the meantime.
               const auto owner =
                   reply.end == CallEnd::kAnswered ? reply.body.text(kMaxNameBytes) : std::nullopt;
               if (owner) setOwner(playerNameOf(name), *owner);
               notify();
             });
}

void Mpris::setOwner(std::string_view name, const std::string& owner) {
  bool isNew = false;
  bool isListWanted = false;
  {
    const std::lock_guard lock(mutex_);
    isNew = table_.setOwner(name, owner);
    isListWanted = table_.hasCapacityAgain();
  }
  if (isNew) {
    askUser(owner);
    askAll(owner);
  }
  if (isListWanted) list();
}

void Mpris::onOwnerChanged(BodyReader& body) {
  const auto name = body.text(kMaxNameBytes);
  const auto before = body.text(kMaxNameBytes);
  const auto after = body.text(kMaxNameBytes);
  if (!name || !before || !after || playerNameOf(*name).empty()) return;
  setOwner(playerNameOf(*name), *after);
  // Unique names are never reused: questions to it need not be remembered.
  if (!table_.has(*before)) forget(*before);
  notify();
}

void Mpris::forget(const std::string& owner) {
  questions_.erase(owner);
  const std::lock_guard lock(mutex_);
  users_.forget(owner);
}

void Mpris::onPropertiesChanged(const std::string& owner, BodyReader& body) {
  if (!table_.has(owner) || !body.text(kMaxNameBytes)) return;
  const PlayerNews news = readPlayerNews(body);
  // Properties that are only named as changed must be queried.
  bool isNamedOnly = false;
  body.array(1, [&] { isNamedOnly = true; });
  bool isPositionWanted = false;
  {
    const std::lock_guard lock(mutex_);
    isPositionWanted = table_.update(owner, news, mpris::nowMs());
  }
  if (isNamedOnly)
    askAll(owner);
  else if (isPositionWanted)
    askPosition(owner);
  notify();
}

void Mpris::onSeeked(const std::string& owner, BodyReader& body) {
  const auto seconds = readPosition(body);
  if (!seconds) return;
  {
    const std::lock_guard lock(mutex_);
    table_.setPosition(owner, seconds, mpris::nowMs());
  }
  notify();
}

void Mpris::askAll(const std::string& owner) {
  Questions& questions = questions_[owner];
  if (questions.isAll) {
    questions.isAllAgain = true;
    return;
  }
  questions.isAll = true;
  const double askedMs = mpris::nowMs();
  bus().call({owner, mpris::kPath, mpris::kProperties, "GetAll", {mpris::kPlayer}}, mpris::kPatience,
             [this, owner, askedMs](Reply& reply) { onAll(owner, reply, askedMs); });
}

void Mpris::onAll(const std::string& owner, Reply& reply, double askedMs) {
  const auto asked = questions_.find(owner);
  if (asked == questions_.end()) return;
  asked->second.isAll = false;
  // A player that has not answered until now is asked again: it may become responsive again.
  const bool isAgain = std::exchange(asked->second.isAllAgain, false) || reply.end == CallEnd::kTimedOut;
  {
    const std::lock_guard lock(mutex_);
    // The order of players that played before the first question is unknown: all have the same time.
    if (reply.end == CallEnd::kAnswered)
      table_.replace(owner, readPlayerNews(reply.body), mpris::nowMs(), isSettled_ ? askedMs : connectedMs_);
    else if (reply.end == CallEnd::kRefused)
      table_.setAnswered(owner);
  }
  if (isAgain) askAll(owner);
  notify();
}

void Mpris::askPosition(const std::string& owner) {
  Questions& questions = questions_[owner];
  if (questions.isPosition) {
    questions.isPositionAgain = true;
    return;
  }
  questions.isPosition = true;
  bus().call({owner, mpris::kPath, mpris::kProperties, "Get", {mpris::kPlayer, "Position"}}, mpris::kPatience,
             [this, owner](Reply& reply) {
               const auto asked = questions_.find(owner);
               if (asked == questions_.end()) return;
               asked->second.isPosition = false;
               const bool isAgain = std::exchange(asked->second.isPositionAgain, false);
               if (reply.end == CallEnd::kAnswered) {
                 const std::lock_guard lock(mutex_);
                 table_.setPosition(owner, readBoxedPosition(reply.body), mpris::nowMs());
               }
               if (isAgain) askPosition(owner);
               notify();
             });
}

bool Mpris::isQuiet() const {
  return !isListing_ && findings_ == 0 &&
         std::none_of(questions_.begin(), questions_.end(),
                      [](const auto& entry) { return entry.second.isAll; });
}

void Mpris::notify() {
  if (isSettled_)
    onChange_();
  else if (isQuiet())
    settle();
}

void Mpris::settle() {
  if (settleTimer_) loop_.cancel(*std::exchange(settleTimer_, std::nullopt));
  {
    const std::lock_guard lock(mutex_);
    isSettled_ = true;
  }
  onChange_();
}

MediaSnapshot Mpris::read() const {
  const std::lock_guard lock(mutex_);
  return {absence_, isSettled_, table_.read(mpris::nowMs()), table_.leftOut()};
}

void Mpris::control(const std::string& id, MediaVerb verb, double value, milliseconds limit,
                    std::function<void(const MediaReply&)> done) {
  if (!table_.has(id)) {
    done({MediaOutcome::kGone, "it has ended"});
    return;
  }
  std::optional<Call> call;
  {
    const std::lock_guard lock(mutex_);
    call = mpris::callFor(id, verb, value, table_.trackIdOf(id), table_.positionOf(id, mpris::nowMs()));
  }
  if (!call) {
    done({MediaOutcome::kFailed, "it reports neither its track nor its position"});
    return;
  }
  bus().call(std::move(*call), limit, [this, id, limit, done = std::move(done)](Reply& reply) {
    const bool isThere = table_.has(id);
    const bool hasNoAnswer = reply.end == CallEnd::kRefused || reply.end == CallEnd::kLost;
    done(!isThere && hasNoAnswer ? MediaReply{MediaOutcome::kGone, "it has ended"}
                                 : mpris::replyOf(reply, limit));
    if (isThere && reply.end == CallEnd::kAnswered) askEffect(id);
  });
}

// Not every player reports the new position or volume, and some answer before they have it.
void Mpris::askEffect(const std::string& owner) {
  askAll(owner);
  std::optional<BusLoop::TimerId>& later = questions_[owner].later;
  if (later) loop_.cancel(*later);
  later = loop_.after(kEffectDelay, [this, owner] {
    const auto asked = questions_.find(owner);
    if (asked == questions_.end()) return;
    asked->second.later.reset();
    askAll(owner);
  });
}

// Asked before the player's properties, so that the user is known before a picture is.
void Mpris::askUser(const std::string& owner) {
  bus().call({mpris::kBusName, mpris::kBusPath, mpris::kBusName, "GetConnectionUnixUser", {owner}},
             mpris::kPatience, [this, owner](Reply& reply) {
               if (reply.end != CallEnd::kAnswered || !table_.has(owner)) return;
               const auto uid = reply.body.number();
               if (!uid || !(*uid >= 0) || *uid >= UINT32_MAX || *uid != std::floor(*uid)) return;
               const std::lock_guard lock(mutex_);
               users_.set(owner, static_cast<std::uint32_t>(*uid));
             });
}

PlayerRights Mpris::rightsOf(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  return users_.rightsOf(owner);
}

void Mpris::askArtUrl(const std::string& id, std::size_t maxBytes, std::chrono::milliseconds limit,
                      std::function<void(const std::optional<std::string>&)> done) {
  bus().call({id, mpris::kPath, mpris::kProperties, "Get", {mpris::kPlayer, "Metadata"}}, limit,
             [maxBytes, done = std::move(done)](Reply& reply) {
               done(reply.end == CallEnd::kAnswered ? readBoxedArtUrl(reply.body, maxBytes) : std::nullopt);
             });
}

}  // namespace hostwire
