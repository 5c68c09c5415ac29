// DNS-SD through Windows' own responder, a part of its DNS client.
#include "host/discovery.h"

#include <utility>

#include "windows/command_thread.h"
#include "windows/discovery/announcements.h"

namespace hostwire {

struct Discovery::State {
  std::shared_ptr<CommandThread::State> thread;
  std::shared_ptr<Announcements> announcements;
};

Discovery::Discovery(const CommandThread& thread, NewsHandler onNews)
    : state_(std::make_shared<State>(
          State{thread.state(),
                std::make_shared<Announcements>(thread.state()->loop, std::move(onNews), systemDnsCalls)})) {}

Discovery::~Discovery() = default;

void Discovery::announce(std::vector<Announcement> list, const std::function<void()>& onDone) {
  const auto set = [announcements = state_->announcements, list = std::move(list), onDone]() mutable {
    announcements->set(std::move(list), onDone);
  };
  if (!state_->thread->post(set)) onDone();
}

void Discovery::browse(std::chrono::milliseconds, const BrowseAnswer& answer) {
  answer({}, "listing services on the network is not supported on Windows");
}

void Discovery::describe(const std::function<void(const Finding&)>& answer) {
  const auto row = systemDnsCalls() != nullptr
                       ? Finding::works("mdns", "DnsServiceRegister of Windows")
                       : Finding::missing("mdns", "dnsapi.dll", {kNoDnsCalls, "use a newer Windows 10"});
  answer(row);
}

}  // namespace hostwire
