// Announcements need Avahi: this is for all platforms but Linux.
#include "host/discovery.h"

#include <utility>

namespace hostwire {
namespace {

constexpr const char* kReason = "mDNS is not supported on this platform, only on Linux through Avahi";

}  // namespace

struct Discovery::State {
  NewsHandler onNews;
};

Discovery::Discovery(const CommandThread&, NewsHandler onNews)
    : state_(std::make_shared<State>(State{std::move(onNews)})) {}
Discovery::~Discovery() = default;
void Discovery::announce(std::vector<Announcement> list, const std::function<void()>& onDone) {
  std::vector<Announced> refused;
  for (const Announcement& each : list) refused.push_back({each.name, false, kReason});
  state_->onNews(refused);
  onDone();
}
void Discovery::describe(const std::function<void(const Finding&)>& answer) {
  answer(Finding::missing("mdns", "none", {kReason, ""}));
}

}  // namespace hostwire
