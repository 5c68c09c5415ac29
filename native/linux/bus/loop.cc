// The loop of the bus thread: ppoll(2) over its connections.
#include "linux/bus/loop.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace hostwire {
namespace {

// Handlers of failed calls may start more calls, which fail as well; this limits the rounds at the end.
constexpr int kMaxLastRounds = 100;

}  // namespace

BusLoop::BusLoop(const BusAddresses& addresses)
    : system_(std::make_unique<BusConnection>(*this, addresses.system)),
      session_(std::make_unique<BusConnection>(*this, addresses.session)),
      descriptors_(
          std::make_unique<BusConnection>(*this, addresses.system, BusConnection::Descriptors::kAllowed)) {
  if (!addresses.isSessionOfActiveUser) return;
  activeUser_.emplace(*system_, [this](BusAddress address) { session_->relocate(std::move(address)); });
  session_->setLocator([this] { activeUser_->find(); });
}

BusLoop::~BusLoop() = default;

void BusLoop::defer(Task task) { deferred_.push_back(std::move(task)); }

BusLoop::TimerId BusLoop::after(std::chrono::milliseconds delay, Task task) {
  timers_.emplace(BusClock::now() + delay, Timer{++lastTimer_, std::move(task)});
  return lastTimer_;
}

void BusLoop::cancel(TimerId timer) {
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [timer](const auto& entry) { return entry.second.id == timer; });
  if (found != timers_.end()) timers_.erase(found);
}

// Tasks that are deferred by these wait for the next round, after the buses had their turn.
void BusLoop::runDeferred() {
  for (Task& task : std::exchange(deferred_, {})) task();
}

void BusLoop::runTimers() {
  const auto now = BusClock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Task task = std::move(timers_.begin()->second.task);
    timers_.erase(timers_.begin());
    task();
  }
}

std::optional<BusClock::duration> BusLoop::nextWait() {
  if (!deferred_.empty()) return BusClock::duration::zero();
  std::optional<BusClock::time_point> next;
  const auto consider = [&](std::optional<BusClock::time_point> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  if (!timers_.empty()) consider(timers_.begin()->first);
  for (const BusConnection* connection : connections()) consider(connection->wakeAt());
  if (!next) return std::nullopt;
  return std::max(*next - BusClock::now(), BusClock::duration::zero());
}

void BusLoop::turn(int wakeFd) {
  runTimers();
  for (BusConnection* connection : connections()) connection->pump();
  runDeferred();
  std::array<pollfd, 1 + std::tuple_size_v<decltype(connections())>> entries{pollfd{wakeFd, POLLIN, 0}};
  nfds_t count = 1;
  for (const BusConnection* connection : connections())
    if (const auto entry = connection->pollEntry()) entries[count++] = *entry;
  timespec timeout{};
  const auto wait = nextWait();
  if (wait) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*wait);
    timeout.tv_sec = seconds.count();
    timeout.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(*wait - seconds).count();
  }
  ppoll(entries.data(), count, wait ? &timeout : nullptr, nullptr);
}

void BusLoop::shutDown() {
  constexpr const char* kReason = "the service is stopping";
  for (BusConnection* connection : connections()) connection->close(kReason);
  timers_.clear();
  for (int i = 0; i < kMaxLastRounds && !deferred_.empty(); ++i) runDeferred();
}

}  // namespace hostwire
