// Notices changes of network interfaces without reading them: NETLINK_ROUTE, rtnetlink(7).
#pragma once

#include "linux/kernel/file.h"

namespace hostwire {

// Used by one thread at a time.
class LinkWatch {
 public:
  // Joins the group of link messages of this network namespace.
  LinkWatch();
  // False if the socket could not be opened: then no change is reported.
  bool isOpen() const { return socket_.isOpen(); }
  // Returns whether an interface was added, removed, renamed, enslaved or changed otherwise since the last
  // call. Never blocks.
  bool takeChange();

 private:
  FileDescriptor socket_;
};

}  // namespace hostwire
