// A socket in the multicast group of link messages; their content is not read.
#include "linux/network/netlink/link_watch.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>

namespace hostwire {

// Maximum number of messages taken per call; the rest is a change in the next call.
constexpr int kMaxMessages = 64;

LinkWatch::LinkWatch() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)) {
  if (!socket_.isOpen()) return;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket_.reset();
}

bool LinkWatch::takeChange() {
  if (!socket_.isOpen()) return false;
  bool hasChanged = false;
  for (int count = 0; count < kMaxMessages; ++count) {
    char first = 0;  // the rest of a message is dropped: only its arrival matters
    const ssize_t got = recv(socket_.get(), &first, sizeof first, MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    // ENOBUFS: there were more messages than the socket could hold.
    if (got < 0 && errno != ENOBUFS) break;
    hasChanged = true;
  }
  return hasChanged;
}

}  // namespace hostwire
