// Maintains announcements with Avahi: they are made again when Avahi or the bus returns or the host's name
// changes, and under another name where a name is taken. Everything here runs on the bus thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/discovery.h"
#include "linux/bus/loop.h"
#include "linux/discovery/avahi.h"

namespace hostwire {

class Announcer : public std::enable_shared_from_this<Announcer> {
 public:
  // `loop` outlives every call.
  Announcer(BusLoop& loop, Discovery::NewsHandler onNews);

  // Same as Discovery::announce.
  void set(std::vector<Announcement> list, const std::function<void()>& onDone);

 private:
  struct Entry {
    Announcement wanted;
    std::string group;  // its object at Avahi; empty: none yet
    Announced now;
    int renames = 0;
  };
  // Handles an entry's next answer; ignored when the entries were restarted in between.
  using Step = std::function<void(Entry& entry, Reply& reply)>;

  void subscribe();
  void begin();
  void publish();
  void fill(std::size_t at);
  void rename(std::size_t at);
  void fail(std::size_t at, std::string reason);
  void failAll(const std::string& reason);
  void onGroup(std::string_view group, const avahi::GroupNews& news);
  void onServer(avahi::ServerState state);
  void freeGroups(const std::function<void()>& onDone);
  // Forgets groups, which have ended with the connection or the Avahi that owned them.
  void forgetGroups();
  void retryLater();
  void report();

  void ask(Call call, std::function<void(Reply&)> then);
  void ask(std::size_t at, Call call, Step then);

  BusLoop& loop_;
  BusConnection& bus_;
  const Discovery::NewsHandler onNews_;
  std::vector<Entry> entries_;
  std::vector<Announced> reported_;
  std::uint64_t round_ = 0;  // incremented whenever the entries are restarted
  bool isSubscribed_ = false;
  bool isBegun_ = false;  // Avahi was asked, and nothing has failed since
  BusLoop::TimerId retryTimer_ = 0;
};

}  // namespace hostwire
