// Options of a socket, by its descriptor.
#include "linux/sockets/options.h"

#include <netinet/in.h>

#include <cstring>

namespace hostwire {

std::optional<std::uint16_t> localPortOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  in_port_t port = 0;
  if (address.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof ipv4);
    port = ipv4.sin_port;
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address, sizeof ipv6);
    port = ipv6.sin6_port;
  } else {
    return std::nullopt;
  }
  return ntohs(port);
}

}  // namespace hostwire
