// DNS-SD over multicast DNS, through the responder that the system runs: what this service announces, and
// what others announce on the network. There is no responder here: two on one host answer for each other's
// names.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/command_thread.h"
#include "host/finding.h"

namespace hostwire {

inline constexpr const char* kServiceType = "_hostwire._tcp";

// A service to announce, by its name on the network.
struct Announcement {
  std::string name;  // at most 63 bytes of UTF-8
  std::uint16_t port = 0;
  std::string link;                // the only interface to announce it on; empty: all
  std::vector<std::string> texts;  // "key=value", at most 255 bytes each
};

// What has become of an announcement.
struct Announced {
  std::string name;  // another one where the name was taken
  bool isAnnounced = false;
  std::string reason;  // why it is not; empty while that is being settled

  bool operator==(const Announced&) const = default;
};

// What another host says: any bytes at all.
struct FoundService {
  std::string name;
  std::string host;
  std::string address;
  std::string link;  // the interface it was found on
  std::uint16_t port = 0;
  std::vector<std::string> texts;
};

// May be called on any thread. Answers come on another thread, or on this one when the command thread has
// been stopped.
class Discovery {
 public:
  // In the order of the announcements, whenever something changes, on the command thread.
  using NewsHandler = std::function<void(const std::vector<Announced>&)>;
  Discovery(const CommandThread& thread, NewsHandler onNews);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Replaces what is announced, for as long as this process runs, over restarts of the responder. `onDone` is
  // called when the responder has withdrawn the former announcements.
  void announce(std::vector<Announcement> list, const std::function<void()>& onDone);

  using BrowseAnswer =
      std::function<void(const std::vector<FoundService>&, const std::optional<std::string>& failure)>;
  // What answers within `duration`; a service is listed once for each of its addresses.
  void browse(std::chrono::milliseconds duration, const BrowseAnswer& answer);

  // The row of `hostwire doctor`.
  void describe(const std::function<void(const Finding&)>& answer);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
