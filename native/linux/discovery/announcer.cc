// Keeps announcements with Avahi.
#include "linux/discovery/announcer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "linux/bus/failure.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// Delay after a refusal: a setting of Avahi may have changed.
constexpr milliseconds kRetry{30'000};
// Maximum number of renames, each of which increments a number: "name #2".
constexpr int kMaxRenames = 50;
constexpr std::size_t kMaxTextBytes = 256;

}  // namespace

Announcer::Announcer(BusLoop& loop, Discovery::NewsHandler onNews)
    : loop_(loop), bus_(loop.systemBus()), onNews_(std::move(onNews)) {}

void Announcer::ask(Call call, std::function<void(Reply&)> then) {
  bus_.call(std::move(call), avahi::kDeadline,
            [weak = weak_from_this(), then = std::move(then)](Reply& reply) {
              if (const auto self = weak.lock()) then(reply);
            });
}

void Announcer::ask(std::size_t at, Call call, Step then) {
  ask(std::move(call), [this, at, round = round_, then = std::move(then)](Reply& reply) {
    if (round == round_) then(entries_[at], reply);
  });
}

void Announcer::subscribe() {
  if (std::exchange(isSubscribed_, true)) return;
  const auto guarded = [this](const auto& handle) {
    return [weak = weak_from_this(), handle](Signal& signal) {
      if (const auto self = weak.lock(); self && !self->entries_.empty()) handle(signal);
    };
  };
  bus_.addMatch(avahi::kOwnerRule, guarded([this](Signal& signal) {
                  signal.body.skip();
                  signal.body.skip();
                  const auto owner = signal.body.text(kMaxTextBytes);
                  forgetGroups();
                  if (owner && !owner->empty()) return begin();
                  failAll("Avahi has ended");
                }));
  bus_.addMatch(avahi::kServerRule, guarded([this](Signal& signal) {
                  if (const auto state = avahi::readServerState(signal.body)) onServer(*state);
                }));
  bus_.addMatch(avahi::kGroupRule, guarded([this](Signal& signal) {
                  if (const auto news = avahi::readGroupNews(signal.body)) onGroup(signal.path, *news);
                }));
  bus_.watch(
      [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && !self->entries_.empty() && !self->isBegun_) self->begin();
      },
      [weak = weak_from_this()](const std::string& reason) {
        const auto self = weak.lock();
        if (!self || self->entries_.empty()) return;
        self->forgetGroups();
        self->failAll("no system bus: " + reason);
      });
}

void Announcer::set(std::vector<Announcement> list, const std::function<void()>& onDone) {
  ++round_;
  freeGroups(onDone);
  loop_.cancel(retryTimer_);
  entries_.clear();
  for (Announcement& wanted : list) {
    const Announced now{wanted.name, false, ""};
    entries_.push_back({std::move(wanted), "", now});
  }
  isBegun_ = false;
  report();
  if (entries_.empty()) return;
  subscribe();
  begin();
}

void Announcer::freeGroups(const std::function<void()>& onDone) {
  // Called when its last copy is destroyed, with or without groups.
  const std::shared_ptr<void> last(nullptr, [onDone](void*) { onDone(); });
  for (Entry& entry : entries_)
    if (!entry.group.empty()) ask(avahi::freeGroupCall(std::exchange(entry.group, "")), [last](Reply&) {});
}

void Announcer::forgetGroups() {
  for (Entry& entry : entries_) entry.group.clear();
}

void Announcer::begin() {
  isBegun_ = true;
  ++round_;
  loop_.cancel(retryTimer_);
  ask(0, avahi::stateCall(), [this](Entry&, Reply& reply) {
    const auto state = avahi::readServerState(reply.body);
    if (state) return onServer(*state);
    failAll(failureText(reply, avahi::kName));
    if (!isNobody(reply)) retryLater();
  });
}

void Announcer::onServer(avahi::ServerState state) {
  switch (state) {
    case avahi::ServerState::kRunning: return publish();
    case avahi::ServerState::kFailure: return failAll("Avahi has failed");
    default: break;  // Avahi is choosing the host's name, and reports when it has one
  }
}

// Also runs after a change of the host's name, which the entries refer to.
void Announcer::publish() {
  freeGroups([] {});
  ++round_;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    entry.now = {entry.wanted.name, false, ""};
    entry.renames = 0;
    ask(avahi::newGroupCall(), [this, at, round = round_](Reply& reply) {
      const auto group = avahi::readObject(reply.body);
      if (round != round_) {
        if (group) ask(avahi::freeGroupCall(*group), [](Reply&) {});
        return;
      }
      if (!group) return fail(at, failureText(reply, avahi::kName));
      entries_[at].group = *group;
      fill(at);
    });
  }
}

void Announcer::fill(std::size_t at) {
  const Entry& entry = entries_[at];
  ask(at, avahi::addCall(entry.group, entry.now.name, entry.wanted), [this, at](Entry& filled, Reply& reply) {
    if (avahi::isCollision(reply)) return rename(at);
    if (reply.end != CallEnd::kAnswered) return fail(at, failureText(reply, avahi::kName));
    ask(at, avahi::commitCall(filled.group), [this, at](Entry&, Reply& committed) {
      if (committed.end != CallEnd::kAnswered) fail(at, failureText(committed, avahi::kName));
    });
  });
}

void Announcer::rename(std::size_t at) {
  Entry& entry = entries_[at];
  entry.now.isAnnounced = false;
  if (++entry.renames > kMaxRenames)
    return fail(at, "all names like \"" + entry.wanted.name + "\" are taken");
  ask(at, avahi::resetCall(entry.group), [](Entry&, Reply&) {});
  ask(at, avahi::alternativeCall(entry.now.name), [this, at](Entry& renamed, Reply& reply) {
    const auto name = reply.body.text(kMaxTextBytes);
    if (!name) return fail(at, failureText(reply, avahi::kName));
    renamed.now.name = *name;
    fill(at);
  });
}

void Announcer::onGroup(std::string_view group, const avahi::GroupNews& news) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return !group.empty() && entry.group == group; });
  if (found == entries_.end()) return;
  const auto at = static_cast<std::size_t>(found - entries_.begin());
  switch (news.state) {
    case avahi::GroupState::kEstablished: found->now = {found->now.name, true, ""}; return report();
    case avahi::GroupState::kCollision: return rename(at);
    case avahi::GroupState::kFailure: return fail(at, "Avahi has failed: " + news.error);
    default: break;
  }
}

void Announcer::fail(std::size_t at, std::string reason) {
  entries_[at].now = {entries_[at].wanted.name, false, std::move(reason)};
  report();
  retryLater();
}

void Announcer::failAll(const std::string& reason) {
  ++round_;
  isBegun_ = false;
  for (Entry& entry : entries_) entry.now = {entry.wanted.name, false, reason};
  report();
}

void Announcer::retryLater() {
  loop_.cancel(retryTimer_);
  retryTimer_ = loop_.after(kRetry, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->entries_.empty()) self->begin();
  });
}

void Announcer::report() {
  std::vector<Announced> now;
  for (const Entry& entry : entries_) now.push_back(entry.now);
  if (now == reported_) return;
  reported_ = std::move(now);
  onNews_(reported_);
}

}  // namespace hostwire
