// Options of a socket, by its descriptor. Not called socket.h: <linux/tcp.h> would take it for the kernel's.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>

namespace hostwire {

// Calls getsockopt(2). Nothing when the descriptor is closed, is not a socket, or does not have this option.
template <class Value>
std::optional<Value> readSocketOption(int fd, int level, int name) {
  Value value{};
  socklen_t length = sizeof value;
  if (getsockopt(fd, level, name, &value, &length) != 0) return std::nullopt;
  return value;
}

// For sockets of either Internet family.
std::optional<std::uint16_t> localPortOf(int fd);

}  // namespace hostwire
