// One look for services on the network: a browser names them, each is resolved.
#include "linux/discovery/browse.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "linux/bus/failure.h"
#include "linux/discovery/avahi.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDeadline{2000};
// Anybody on the network may announce any number.
constexpr std::size_t kMaxItems = 256;
constexpr std::size_t kMaxPathBytes = 256;

// Lives in the handlers of what it has asked for.
class Browse : public std::enable_shared_from_this<Browse> {
 public:
  Browse(BusLoop& loop, milliseconds duration, Discovery::BrowseAnswer answer)
      : loop_(loop),
        bus_(loop.systemBus()),
        endsAt_(BusClock::now() + duration),
        answer_(std::move(answer)) {}

  // Signals may come before the answer that names their browser: there is only one.
  void begin() {
    match_ = bus_.addMatch(avahi::kBrowserRule, [self = shared_from_this()](Signal& signal) {
      if (signal.member == "ItemNew") self->resolve(signal.body);
      if (signal.member == "Failure") self->failure_ = "Avahi cannot browse: " + self->textOf(signal.body);
    });
    bus_.call(avahi::newBrowserCall(), kDeadline, [self = shared_from_this()](Reply& reply) {
      if (reply.end != CallEnd::kAnswered) return self->finish(failureText(reply, "Avahi"));
      self->browser_ = self->textOf(reply.body);
      self->loop_.after(self->left(), [self] { self->finish(self->failure_); });
    });
  }

 private:
  static std::string textOf(BodyReader& body) { return body.text(kMaxPathBytes).value_or(""); }

  milliseconds left() const {
    return std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(endsAt_ - BusClock::now()));
  }

  void resolve(BodyReader& body) {
    const auto item = avahi::readItem(body);
    if (!item || ++items_ > kMaxItems) return;
    bus_.call(avahi::resolveCall(*item), left(), [self = shared_from_this()](Reply& reply) {
      if (reply.end != CallEnd::kAnswered) return;
      if (auto found = avahi::readResolved(reply.body)) self->found_.push_back(std::move(*found));
    });
  }

  void finish(const std::optional<std::string>& failure) {
    bus_.removeMatch(match_);
    if (!browser_.empty()) bus_.call(avahi::freeBrowserCall(browser_), kDeadline, [](Reply&) {});
    answer_(found_, failure);
  }

  BusLoop& loop_;
  BusConnection& bus_;
  const BusClock::time_point endsAt_;
  const Discovery::BrowseAnswer answer_;
  BusConnection::MatchId match_ = 0;
  std::string browser_;
  std::size_t items_ = 0;
  std::vector<FoundService> found_;
  std::optional<std::string> failure_;
};

}  // namespace

void browse(BusLoop& loop, milliseconds duration, const Discovery::BrowseAnswer& answer) {
  std::make_shared<Browse>(loop, duration, answer)->begin();
}

}  // namespace hostwire
