// Shared parts of the checks of discovery: a fake Avahi, and the code that speaks to it.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fake_avahi.h"
#include "host/command_thread.h"
#include "host/discovery.h"

namespace discovery {

using hostwire::Announced;
using hostwire::FoundService;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

extern std::atomic<int> checks;
int failureCount();
void check(bool isTrue, const std::string& what);
// Two minutes only guard against what never comes. A call to a slow Avahi fails after 2 s and is made again
// after 30 s, so on a machine with other load the same becomes true, but later.
template <class Condition>
bool comesTrue(Condition condition) {
  const auto end = Clock::now() + std::chrono::minutes{2};
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(milliseconds{1});
  return condition();
}
// The socket of the next bus, which the command threads made from now on connect to.
std::string nextSocket();

// The last news, for any thread.
class News {
 public:
  void set(const std::vector<Announced>& now);
  std::vector<Announced> get();
  // The names that are announced; of the others the reasons, after "!".
  std::vector<std::string> lines();

 private:
  std::mutex mutex_;
  std::vector<Announced> now_;
};

struct Found {
  std::vector<FoundService> services;
  std::optional<std::string> failure;
  std::vector<std::string> names() const;
};

// Checks that there is an answer.
Found answerOf(std::future<Found> look);

// A destroyed rig has stopped its command thread first, as an environment of Node.js does.
struct Rig {
  Rig();
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // Returns when the former announcements have been withdrawn.
  void announce(const std::vector<std::string>& names);
  std::future<Found> look(milliseconds duration);
  Found browse(milliseconds duration = milliseconds{200}) { return answerOf(look(duration)); }
  // Whether the news become these lines.
  bool becomes(const std::vector<std::string>& lines);
  std::string describe();

  const std::string socket = nextSocket();
  std::unique_ptr<fake::Avahi> avahi = std::make_unique<fake::Avahi>(socket);
  hostwire::CommandThread thread;
  News news;
  std::unique_ptr<hostwire::Discovery> discovery;
};

std::vector<hostwire::Announcement> listOf(const std::vector<std::string>& names);

// In discovery_browse.cc.
void checkBrowsing();

}  // namespace discovery
