// One search for services on the network: a browser names them, each is resolved.
#include "linux/discovery/browse.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "linux/bus/failure.h"
#include "linux/discovery/avahi.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// Maximum number of items: any host on the network may announce any number.
constexpr std::size_t kMaxItems = 256;
constexpr std::size_t kMaxReasonBytes = 256;

// Owned by the handlers of its requests.
class Browse : public std::enable_shared_from_this<Browse> {
 public:
  Browse(BusLoop& loop, milliseconds duration, Discovery::BrowseAnswer answer)
      : loop_(loop),
        bus_(loop.systemBus()),
        endsAt_(BusClock::now() + duration),
        answer_(std::move(answer)) {}
  // The loop drops its timers and signals when it ends.
  ~Browse() {
    if (answer_) answer_({}, "the service is stopping");
  }
  Browse(const Browse&) = delete;
  Browse& operator=(const Browse&) = delete;

  void begin() {
    match_ = bus_.addMatch(avahi::kBrowserRule,
                           [self = shared_from_this()](Signal& signal) { self->hear(signal); });
    bus_.call(avahi::newBrowserCall(), avahi::kDeadline, [self = shared_from_this()](Reply& reply) {
      const auto browser = avahi::readObject(reply.body);
      if (!browser) return self->finish(failureText(reply, avahi::kName));
      self->browser_ = *browser;
      self->loop_.after(self->left(), [self] { self->finish(self->failure_); });
    });
  }

 private:
  // Signals may arrive before the answer that names their browser, and may be those of another search's
  // browser: until then signals of any browser are accepted.
  void hear(Signal& signal) {
    if (!browser_.empty() && signal.path != browser_) return;
    if (signal.member == "ItemNew") resolve(signal.body);
    if (signal.member == "Failure")
      failure_ = "Avahi cannot browse: " + signal.body.text(kMaxReasonBytes).value_or("");
  }

  milliseconds left() const {
    return std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(endsAt_ - BusClock::now()));
  }

  void resolve(BodyReader& body) {
    const auto item = avahi::readItem(body);
    if (!item || items_.size() == kMaxItems || !items_.insert(*item).second) return;
    bus_.call(avahi::resolveCall(*item), left(), [self = shared_from_this()](Reply& reply) {
      if (reply.end != CallEnd::kAnswered) return;
      if (auto found = avahi::readResolved(reply.body)) self->found_.push_back(std::move(*found));
    });
  }

  void finish(const std::optional<std::string>& failure) {
    bus_.removeMatch(match_);
    if (!browser_.empty()) bus_.call(avahi::freeBrowserCall(browser_), avahi::kDeadline, [](Reply&) {});
    std::exchange(answer_, nullptr)(found_, failure);
  }

  BusLoop& loop_;
  BusConnection& bus_;
  const BusClock::time_point endsAt_;
  Discovery::BrowseAnswer answer_;
  BusConnection::MatchId match_ = 0;
  std::string browser_;
  std::set<avahi::Item> items_;
  std::vector<FoundService> found_;
  std::optional<std::string> failure_;
};

}  // namespace

void browse(BusLoop& loop, milliseconds duration, const Discovery::BrowseAnswer& answer) {
  std::make_shared<Browse>(loop, duration, answer)->begin();
}

}  // namespace hostwire
