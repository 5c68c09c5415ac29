// Announcements through Avahi: its D-Bus interface (org.freedesktop.Avahi.Server.xml and its siblings,
// version 0.6 and later). They are made again when Avahi or the bus returns or the host's name changes, and
// under another name where a name is taken.
#include "host/discovery.h"

#include <net/if.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "linux/bus/failure.h"
#include "linux/bus/loop.h"
#include "linux/command_thread.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// An answer takes less than a millisecond.
constexpr milliseconds kDeadline{2000};
constexpr milliseconds kVersionDeadline{1000};
// Delay after a refusal: a setting of Avahi may have changed.
constexpr milliseconds kRetry{30'000};
// Maximum number of renames, each of which increments a number: "name #2".
constexpr int kMaxRenames = 50;
constexpr std::size_t kMaxTextBytes = 256;
constexpr std::size_t kMaxVersionBytes = 64;
// "/Client7/EntryGroup12"
constexpr std::size_t kMaxPathBytes = 256;

constexpr const char* kSubject = "mdns";
constexpr const char* kType = "_hostwire._tcp";
// Avahi's name in messages.
constexpr const char* kName = "Avahi";
constexpr const char* kService = "org.freedesktop.Avahi";
// AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC
constexpr std::int32_t kAny = -1;
constexpr std::uint32_t kNoFlags = 0;

constexpr const char* kOwnerRule =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
    "arg0='org.freedesktop.Avahi'";
constexpr const char* kServerRule =
    "type='signal',sender='org.freedesktop.Avahi',path='/',interface='org.freedesktop.Avahi.Server',"
    "member='StateChanged'";
// Selects signals of our own groups only: Avahi sends each to the client that made it.
constexpr const char* kGroupRule =
    "type='signal',sender='org.freedesktop.Avahi',interface='org.freedesktop.Avahi.EntryGroup',"
    "member='StateChanged'";

// AvahiServerState and AvahiEntryGroupState of avahi-common/defs.h
enum class ServerState { kInvalid, kRegistering, kRunning, kCollision, kFailure };
enum class GroupState { kUncommitted, kRegistering, kEstablished, kCollision, kFailure };

Call serverCall(const char* member, std::vector<Argument> arguments = {}) {
  return {kService, "/", "org.freedesktop.Avahi.Server", member, std::move(arguments)};
}

Call groupCall(const std::string& group, const char* member, std::vector<Argument> arguments = {}) {
  return {kService, group, "org.freedesktop.Avahi.EntryGroup", member, std::move(arguments)};
}

// An empty domain is Avahi's own (local), an empty host this one.
Call addCall(const std::string& group, const std::string& name, const Announcement& wanted) {
  const auto text = [](std::string value) { return BasicArgument(std::move(value)); };
  const unsigned index = wanted.link.empty() ? 0 : if_nametoindex(wanted.link.c_str());
  const std::int32_t link = index == 0 ? kAny : static_cast<std::int32_t>(index);
  return groupCall(group, "AddService",
                   {BasicArgument(link), BasicArgument(kAny), BasicArgument(kNoFlags), text(name),
                    text(kType), text(""), text(""), BasicArgument(wanted.port), ByteStrings{wanted.texts}});
}

// Returns the path of a group that an answer names; nothing if it names no object.
std::optional<std::string> readObject(BodyReader& body) {
  if (body.peek() != 'o') return std::nullopt;
  auto path = body.text(kMaxPathBytes + 1);
  if (!path || path->size() > kMaxPathBytes) return std::nullopt;
  return path;
}

// A number of any type is read as a double, which holds every state.
template <class State>
std::optional<State> readState(BodyReader& body) {
  const auto number = body.number();
  if (!number || !(*number >= 0 && *number <= static_cast<double>(State::kFailure))) return std::nullopt;
  return static_cast<State>(static_cast<int>(*number));
}

// Maintains the announcements. Everything here runs on the bus thread.
class Announcer : public std::enable_shared_from_this<Announcer> {
 public:
  // `loop` outlives every call.
  Announcer(BusLoop& loop, Discovery::NewsHandler onNews)
      : loop_(loop), bus_(loop.systemBus()), onNews_(std::move(onNews)) {}

  // Same as Discovery::announce.
  void set(std::vector<Announcement> list, const std::function<void()>& onDone);

 private:
  struct Entry {
    Announcement wanted;
    std::string group;  // its object at Avahi; empty: none yet
    Announced now;
    int renames = 0;
  };
  // Handles an entry's next answer; ignored when the entries were restarted in between.
  using Step = std::function<void(Entry& entry, Reply& reply)>;

  void subscribe();
  void begin();
  void publish();
  void fill(std::size_t at);
  void rename(std::size_t at);
  void fail(std::size_t at, std::string reason);
  void failAll(const std::string& reason);
  void onGroup(std::string_view group, GroupState state, const std::string& error);
  void onServer(ServerState state);
  void freeGroups(const std::function<void()>& onDone);
  // Forgets groups, which have ended with the connection or the Avahi that owned them.
  void forgetGroups();
  void retryLater();
  void report();

  void ask(Call call, std::function<void(Reply&)> then);
  void ask(std::size_t at, Call call, Step then);

  BusLoop& loop_;
  BusConnection& bus_;
  const Discovery::NewsHandler onNews_;
  std::vector<Entry> entries_;
  std::vector<Announced> reported_;
  std::uint64_t round_ = 0;  // incremented whenever the entries are restarted
  bool isSubscribed_ = false;
  bool isBegun_ = false;  // Avahi was asked, and nothing has failed since
  BusLoop::TimerId retryTimer_ = 0;
};

void Announcer::ask(Call call, std::function<void(Reply&)> then) {
  bus_.call(std::move(call), kDeadline, [weak = weak_from_this(), then = std::move(then)](Reply& reply) {
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
  bus_.addMatch(kOwnerRule, guarded([this](Signal& signal) {
                  signal.body.skip();
                  signal.body.skip();
                  const auto owner = signal.body.text(kMaxTextBytes);
                  forgetGroups();
                  if (owner && !owner->empty()) return begin();
                  failAll("Avahi has ended");
                }));
  bus_.addMatch(kServerRule, guarded([this](Signal& signal) {
                  if (const auto state = readState<ServerState>(signal.body)) onServer(*state);
                }));
  bus_.addMatch(kGroupRule, guarded([this](Signal& signal) {
                  if (const auto state = readState<GroupState>(signal.body))
                    onGroup(signal.path, *state, signal.body.text(kMaxTextBytes).value_or(""));
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
    if (!entry.group.empty()) ask(groupCall(std::exchange(entry.group, ""), "Free"), [last](Reply&) {});
}

void Announcer::forgetGroups() {
  for (Entry& entry : entries_) entry.group.clear();
}

void Announcer::begin() {
  isBegun_ = true;
  ++round_;
  loop_.cancel(retryTimer_);
  ask(0, serverCall("GetState"), [this](Entry&, Reply& reply) {
    const auto state = readState<ServerState>(reply.body);
    if (state) return onServer(*state);
    failAll(failureText(reply, kName));
    if (!isNobody(reply)) retryLater();
  });
}

void Announcer::onServer(ServerState state) {
  switch (state) {
    case ServerState::kRunning: return publish();
    case ServerState::kFailure: return failAll("Avahi has failed");
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
    ask(serverCall("EntryGroupNew"), [this, at, round = round_](Reply& reply) {
      const auto group = readObject(reply.body);
      if (round != round_) {
        if (group) ask(groupCall(*group, "Free"), [](Reply&) {});
        return;
      }
      if (!group) return fail(at, failureText(reply, kName));
      entries_[at].group = *group;
      fill(at);
    });
  }
}

void Announcer::fill(std::size_t at) {
  const Entry& entry = entries_[at];
  ask(at, addCall(entry.group, entry.now.name, entry.wanted), [this, at](Entry& filled, Reply& reply) {
    if (isError(reply, "org.freedesktop.Avahi.CollisionError")) return rename(at);
    if (reply.end != CallEnd::kAnswered) return fail(at, failureText(reply, kName));
    ask(at, groupCall(filled.group, "Commit"), [this, at](Entry&, Reply& committed) {
      if (committed.end != CallEnd::kAnswered) fail(at, failureText(committed, kName));
    });
  });
}

void Announcer::rename(std::size_t at) {
  Entry& entry = entries_[at];
  entry.now.isAnnounced = false;
  if (++entry.renames > kMaxRenames)
    return fail(at, "all names like \"" + entry.wanted.name + "\" are taken");
  ask(at, groupCall(entry.group, "Reset"), [](Entry&, Reply&) {});
  ask(at, serverCall("GetAlternativeServiceName", {BasicArgument(entry.now.name)}),
      [this, at](Entry& renamed, Reply& reply) {
        const auto name = reply.body.text(kMaxTextBytes);
        if (!name) return fail(at, failureText(reply, kName));
        renamed.now.name = *name;
        fill(at);
      });
}

void Announcer::onGroup(std::string_view group, GroupState state, const std::string& error) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return !group.empty() && entry.group == group; });
  if (found == entries_.end()) return;
  const auto at = static_cast<std::size_t>(found - entries_.begin());
  switch (state) {
    case GroupState::kEstablished: found->now = {found->now.name, true, ""}; return report();
    case GroupState::kCollision: return rename(at);
    case GroupState::kFailure: return fail(at, "Avahi has failed: " + error);
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

Finding noAvahi(const std::string& reason) {
  return Finding::missing(
      kSubject, "no Avahi",
      {reason, "install avahi-daemon and let it run (systemctl enable --now avahi-daemon)"});
}

void findAvahi(BusConnection& bus, const std::function<void(const Finding&)>& answer) {
  bus.call(serverCall("GetVersionString"), kVersionDeadline, [&bus, answer](Reply& reply) {
    if (reply.end != CallEnd::kAnswered) return answer(noAvahi(failureText(reply, kName)));
    const std::string version = reply.body.text(kMaxVersionBytes).value_or(kName);
    answer(Finding::works(kSubject, version + " on " + bus.address().text));
  });
}

}  // namespace

struct Discovery::State {
  std::shared_ptr<CommandThread::State> thread;
  NewsHandler onNews;
  std::shared_ptr<Announcer> announcer;  // used on the bus thread only
};

Discovery::Discovery(const CommandThread& thread, NewsHandler onNews)
    : state_(std::make_shared<State>(State{thread.state(), std::move(onNews), nullptr})) {}

Discovery::~Discovery() = default;

void Discovery::announce(std::vector<Announcement> list, const std::function<void()>& onDone) {
  const bool isPosted = state_->thread->bus.post(
      [weak = std::weak_ptr(state_), list = std::move(list), onDone](BusLoop& loop) mutable {
        const auto state = weak.lock();
        if (!state) return onDone();
        if (!state->announcer) state->announcer = std::make_shared<Announcer>(loop, state->onNews);
        state->announcer->set(std::move(list), onDone);
      });
  if (!isPosted) onDone();
}

void Discovery::describe(const std::function<void(const Finding&)>& answer) {
  if (!state_->thread->bus.post([answer](BusLoop& loop) { findAvahi(loop.systemBus(), answer); }))
    answer(noAvahi("the service is stopping"));
}

}  // namespace hostwire
