// Delays sleeps and shutdowns by an inhibitor of logind.
#include "linux/power/sleep_delay.h"

#include <chrono>
#include <utility>

#include "linux/bus/failure.h"
#include "linux/power/logind.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// Deadline of a call: an answer takes less than a millisecond, 50 when polkit is asked first.
constexpr milliseconds kInhibitDeadline{1000};
// Maximum delay: a service that hangs must not delay the machine for the 5 s that logind would wait.
constexpr milliseconds kMaxDelay{1000};
constexpr std::size_t kMaxNameBytes = 256;

}  // namespace

void SleepDelay::hold(std::string why, const Answer& answer) {
  why_ = std::move(why);
  isWanted_ = true;
  subscribe();
  if (inhibitor_.isOpen()) return answer(std::nullopt);
  take(answer);
}

void SleepDelay::release() {
  isWanted_ = false;
  loop_.cancel(limitTimer_);
  inhibitor_.reset();
}

void SleepDelay::onNotice(bool isGoing) {
  loop_.cancel(limitTimer_);
  if (!isGoing) return takeAgain();
  limitTimer_ = loop_.after(kMaxDelay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->inhibitor_.reset();
  });
}

// The pipe outlives the bus; only a new logind, which may not know it, is asked again.
void SleepDelay::subscribe() {
  if (std::exchange(isSubscribed_, true)) return;
  loop_.systemBus().addMatch(logind::kOwnerRule, [weak = weak_from_this()](Signal& signal) {
    signal.body.skip();
    signal.body.skip();
    const auto owner = signal.body.text(kMaxNameBytes);
    const auto self = weak.lock();
    if (!self || !owner || owner->empty()) return;
    self->inhibitor_.reset();
    self->takeAgain();
  });
}

void SleepDelay::takeAgain() {
  if (isWanted_ && !inhibitor_.isOpen()) take([](const auto&) {});
}

void SleepDelay::take(const Answer& answer) {
  BusConnection& bus = loop_.descriptorBus();
  bus.call(logind::delayCall(why_), kInhibitDeadline, [&bus, weak = weak_from_this(), answer](Reply& reply) {
    bus.rest();
    if (reply.end != CallEnd::kAnswered) return answer(failureText(reply, "logind"));
    FileDescriptor taken = reply.body.descriptor();
    if (!taken.isOpen()) return answer("logind's answer has no descriptor");
    // If it was released in the meantime, it closes here.
    if (const auto self = weak.lock(); self && self->isWanted_) self->inhibitor_ = std::move(taken);
    answer(std::nullopt);
  });
}

}  // namespace hostwire
