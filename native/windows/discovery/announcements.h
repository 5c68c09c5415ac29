// Announcements that Windows makes for this service. Everything here runs on the command thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "host/discovery.h"
#include "windows/discovery/dns_calls.h"
#include "windows/discovery/registration.h"
#include "windows/task_loop.h"

namespace hostwire {

inline constexpr const char* kNoDnsCalls = "this version of Windows has no DnsServiceRegister";

class Announcements : public std::enable_shared_from_this<Announcements> {
 public:
  // `find` returns null if Windows lacks the functions.
  Announcements(std::shared_ptr<TaskLoop> loop, Discovery::NewsHandler onNews, const DnsCalls* (*find)());

  // Same as Discovery::announce.
  void set(std::vector<Announcement> list, const std::function<void()>& onDone);

 private:
  void report();

  const std::shared_ptr<TaskLoop> loop_;
  const Discovery::NewsHandler onNews_;
  const DnsCalls* (*const find_)();
  std::vector<std::shared_ptr<Registration>> current_;
};

}  // namespace hostwire
