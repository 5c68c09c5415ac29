// Announcements of this service by DNS-SD over multicast DNS, through the responder of the system. hostwire
// has no responder of its own, because two on one host answer for each other's names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/command_thread.h"
#include "host/finding.h"

namespace hostwire {

// A service to announce as _hostwire._tcp, by its name on the network.
struct Announcement {
  std::string name;  // at most 63 bytes of UTF-8
  std::uint16_t port = 0;
  std::string link;                // the only interface to announce it on; empty: all
  std::vector<std::string> texts;  // "key=value", at most 255 bytes each
};

// State of an announcement.
struct Announced {
  std::string name;  // a different one where the wanted name was taken
  bool isAnnounced = false;
  std::string reason;  // why it is not announced; empty while that is undecided

  bool operator==(const Announced&) const = default;
};

// May be called on any thread. Answers arrive on another thread, or on the calling thread if the command
// thread has been stopped.
class Discovery {
 public:
  // Receives the states in the order of the announcements, whenever one changes, on the command thread.
  using NewsHandler = std::function<void(const std::vector<Announced>&)>;
  Discovery(const CommandThread& thread, NewsHandler onNews);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Replaces the announcements; they last as long as this process runs, across restarts of the responder.
  // `onDone` is called when the responder has withdrawn the previous ones.
  void announce(std::vector<Announcement> list, const std::function<void()>& onDone);

  // Reports the row of `hostwire doctor`.
  void describe(const std::function<void(const Finding&)>& answer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
