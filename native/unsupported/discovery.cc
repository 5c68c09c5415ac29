// No multicast DNS responder is supported on this platform.
#include "host/discovery.h"

#include <utility>

namespace hostwire {
namespace {

constexpr const char* kReason = "mDNS is not supported on this platform";

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
void Discovery::browse(std::chrono::milliseconds, const BrowseAnswer& answer) { answer({}, kReason); }
void Discovery::describe(const std::function<void(const Finding&)>& answer) {
  answer(Finding::missing("mdns", "none", {kReason, ""}));
}

}  // namespace hostwire
