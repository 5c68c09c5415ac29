// Shared parts of the checks of discovery.
#include "discovery_rig.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace discovery {

std::atomic<int> checks{0};

namespace {
std::atomic<int> failures{0};
}  // namespace

int failureCount() { return failures; }

void check(bool isTrue, const std::string& what) {
  ++checks;
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

std::string nextSocket() {
  static int last = 0;
  const std::string path = "/tmp/hostwire-avahi-" + std::to_string(getpid()) + "-" + std::to_string(++last);
  setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
  return path;
}

void News::set(const std::vector<Announced>& now) {
  const std::lock_guard lock(mutex_);
  now_ = now;
}

std::vector<Announced> News::get() {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::vector<std::string> News::lines() {
  std::vector<std::string> lines;
  for (const Announced& each : get()) lines.push_back(each.isAnnounced ? each.name : "!" + each.reason);
  return lines;
}

std::vector<std::string> Found::names() const {
  std::vector<std::string> names;
  for (const FoundService& service : services) names.push_back(service.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<hostwire::Announcement> listOf(const std::vector<std::string>& names) {
  std::vector<hostwire::Announcement> list;
  for (const std::string& name : names) list.push_back({name, 9990, "", {"txtvers=1", "id=\xff"}});
  return list;
}

Rig::Rig()
    : discovery(std::make_unique<hostwire::Discovery>(
          thread, [this](const std::vector<Announced>& now) { news.set(now); })) {}

Rig::~Rig() { thread.stop(); }

void Rig::announce(const std::vector<std::string>& names) {
  const auto done = std::make_shared<std::promise<void>>();
  discovery->announce(listOf(names), [done] { done->set_value(); });
  done->get_future().get();
}

std::future<Found> Rig::look(milliseconds duration) {
  const auto promise = std::make_shared<std::promise<Found>>();
  const auto isAnswered = std::make_shared<std::atomic<bool>>(false);
  discovery->browse(
      duration, [=](const std::vector<FoundService>& services, const std::optional<std::string>& failure) {
        if (isAnswered->exchange(true)) return check(false, "a second answer to a browse");
        promise->set_value({services, failure});
      });
  return promise->get_future();
}

Found answerOf(std::future<Found> look) {
  try {
    return look.get();
  } catch (const std::future_error&) {
    check(false, "a browse was dropped without an answer");
    return {};
  }
}

bool Rig::becomes(const std::vector<std::string>& lines) {
  const bool did = comesTrue([&] { return news.lines() == lines; });
  if (!did)
    for (const std::string& line : news.lines()) std::printf("the news are: %s\n", line.c_str());
  return did;
}

std::string Rig::describe() {
  const auto promise = std::make_shared<std::promise<std::string>>();
  discovery->describe([promise](const hostwire::Finding& finding) {
    promise->set_value(finding.source +
                       (finding.obstacle.reason.empty() ? "" : ": " + finding.obstacle.reason));
  });
  return promise->get_future().get();
}

}  // namespace discovery
