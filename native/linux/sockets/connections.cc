// Counts connections, asked descriptor by descriptor: a dump of NETLINK_SOCK_DIAG walks the whole machine's
// hash table of connections, 5 to 11 ms even for a few, and needs another address family.
#include "host/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>

#include "linux/sockets/options.h"
#include "linux/sockets/tcp.h"

namespace hostwire {
namespace {

constexpr std::size_t kMappedAt = 12;

std::string textOf(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

std::string clientOf(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return textOf(AF_INET, &address.s6_addr[kMappedAt]);
  return textOf(AF_INET6, &address);
}

// Returns nothing if the descriptor is not a connected socket of the Internet.
std::optional<std::string> clientOf(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return std::nullopt;
  if (storage.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &storage, sizeof ipv4);
    return textOf(AF_INET, &ipv4.sin_addr);
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &storage, sizeof ipv6);
  return clientOf(ipv6.sin6_addr);
}

}  // namespace

std::vector<ClientConnections> readConnections(std::uint16_t port) {
  std::map<std::string, std::uint32_t> counts;
  const int end = descriptorsEnd();
  for (int fd = 0; fd < end; ++fd) {
    const auto client = clientOf(fd);
    if (client && localPortOf(fd) == port) ++counts[*client];
  }
  std::vector<ClientConnections> clients;
  clients.reserve(counts.size());
  for (const auto& [address, connections] : counts) clients.push_back({address, connections});
  return clients;
}

}  // namespace hostwire
