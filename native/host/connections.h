// Lists all connections of a listening port: how many each client has, and those that should be cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostwire {

// Identifies one connection, for cutConnections.
struct ConnectionId {
  int descriptor = -1;
  // Same as PendingPeer::cookie.
  std::uint64_t cookie = 0;
};

struct ClientConnections {
  // IPv4 (also where it is mapped) or IPv6, without a zone.
  std::string address;
  std::uint32_t connections = 0;
};

// A connection that has received more bytes than were sent on it and acknowledged: an unfinished request or
// message, or requests whose answers the client does not read.
struct UnansweredInput {
  ConnectionId connection;
  // Same as ClientConnections::address.
  std::string address;
  std::uint64_t bytes = 0;
};

struct OpenConnections {
  std::vector<ClientConnections> clients;
  // Connections that this side has closed, whose peer has acknowledged that but not closed for
  // `halfClosedMs`.
  std::vector<ConnectionId> halfClosed;
  std::vector<UnansweredInput> unanswered;
};

struct ConnectionQuery {
  std::uint16_t port = 0;
  // Half-closed connections are listed after this many milliseconds.
  std::uint32_t halfClosedMs = 0;
  // Unanswered input is listed beyond this many bytes.
  std::uint64_t unansweredBytes = 0;
};

// Supported where canReadPendingPeers() is true. May be called on any thread. Throws HostError.
OpenConnections readConnections(const ConnectionQuery& options);

// Closes those that are still the same connections; returns how many. To be called only on the thread that
// opens and closes them.
int cutConnections(const std::vector<ConnectionId>& connections);

}  // namespace hostwire
