// Counts the connections of a listening port by client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostwire {

struct ClientConnections {
  // IPv4 (also where it is mapped) or IPv6, without a zone.
  std::string address;
  std::uint32_t connections = 0;
};

// May be called on any thread: a descriptor that is closed or reused during the call does no harm. Throws
// HostError.
std::vector<ClientConnections> readConnections(std::uint16_t port);

}  // namespace hostwire
