// Lists all connections of a listening port, asked descriptor by descriptor, for the reason given in
// peers.cc.
#include "host/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "linux/sockets/closing.h"
#include "linux/sockets/options.h"
#include "linux/sockets/tcp.h"

namespace hostwire {
namespace {

constexpr std::size_t kMappedAt = 12;
// TCP_FIN_WAIT2 of the kernel's include/net/tcp_states.h; the C library's header defines tcp_info anew.
constexpr int kFinWait2 = 5;

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

// In FIN_WAIT2 the peer has acknowledged the end of the sent data, so it waits for nothing. No data is sent
// after the end, so the time since the last data only grows.
bool isHalfClosed(const tcp_info& info, const ConnectionQuery& options) {
  return info.tcpi_state == kFinWait2 && info.tcpi_last_data_sent >= options.halfClosedMs;
}

std::uint64_t unansweredOf(const tcp_info& info) {
  return info.tcpi_bytes_received > info.tcpi_bytes_acked ? info.tcpi_bytes_received - info.tcpi_bytes_acked
                                                          : 0;
}

void note(OpenConnections& found, int fd, const std::string& client, const ConnectionQuery& options) {
  const auto connection = readConnection(fd);
  if (!connection) return;
  const ConnectionId id{fd, connection->cookie};
  if (isHalfClosed(connection->info, options)) found.halfClosed.push_back(id);
  const auto bytes = unansweredOf(connection->info);
  if (bytes > options.unansweredBytes) found.unanswered.push_back({id, client, bytes});
}

}  // namespace

OpenConnections readConnections(const ConnectionQuery& options) {
  OpenConnections found;
  std::map<std::string, std::uint32_t> counts;
  const int end = descriptorsEnd();
  for (int fd = 0; fd < end; ++fd) {
    const auto client = clientOf(fd);
    if (!client || localPortOf(fd) != options.port) continue;
    ++counts[*client];
    note(found, fd, *client, options);
  }
  found.clients.reserve(counts.size());
  for (const auto& [address, connections] : counts) found.clients.push_back({address, connections});
  return found;
}

int cutConnections(const std::vector<ConnectionId>& connections) {
  int cut = 0;
  for (const auto& [descriptor, cookie] : connections) {
    const std::lock_guard lock(closingLock());
    if (readCookie(descriptor) != cookie) continue;
    resetConnection(descriptor);
    ++cut;
  }
  return cut;
}

}  // namespace hostwire
