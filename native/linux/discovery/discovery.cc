// DNS-SD through Avahi.
#include "host/discovery.h"

#include <utility>

#include "linux/bus/failure.h"
#include "linux/command_thread.h"
#include "linux/discovery/announcer.h"
#include "linux/discovery/browse.h"

namespace hostwire {
namespace {

constexpr std::chrono::milliseconds kVersionDeadline{1000};
constexpr const char* kSubject = "mdns";
constexpr const char* kStopping = "the service is stopping";
constexpr std::size_t kMaxVersionBytes = 64;

Finding noAvahi(const std::string& reason) {
  return Finding::missing(
      kSubject, "no Avahi",
      {reason, "install avahi-daemon and let it run (systemctl enable --now avahi-daemon)"});
}

void findAvahi(BusConnection& bus, const std::function<void(const Finding&)>& answer) {
  bus.call(avahi::versionCall(), kVersionDeadline, [&bus, answer](Reply& reply) {
    if (reply.end != CallEnd::kAnswered) return answer(noAvahi(failureText(reply, "Avahi")));
    const std::string version = reply.body.text(kMaxVersionBytes).value_or("Avahi");
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

void Discovery::browse(std::chrono::milliseconds duration, const BrowseAnswer& answer) {
  if (!state_->thread->bus.post(
          [duration, answer](BusLoop& loop) { hostwire::browse(loop, duration, answer); }))
    answer({}, kStopping);
}

void Discovery::describe(const std::function<void(const Finding&)>& answer) {
  if (!state_->thread->bus.post([answer](BusLoop& loop) { findAvahi(loop.systemBus(), answer); }))
    answer(noAvahi(kStopping));
}

}  // namespace hostwire
