// Windows reports acknowledged bytes of peers to administrators only (GetPerTcpConnectionEStats).
#include "host/peers.h"

#include "host/connections.h"
#include "host/error.h"

namespace hostwire {

bool canReadPendingPeers() { return false; }
Finding describePeers() {
  return Finding::partly("peers", "cut after 30 s without taking any data",
                         {"Windows shows only administrators what clients acknowledge", ""});
}
std::vector<PendingPeer> readPendingPeers(std::uint16_t) {
  throw HostError(std::errc::not_supported, "read pending peers");
}
int cutPeers(const std::vector<PendingPeer>&) { return 0; }
OpenConnections readConnections(const ConnectionQuery&) {
  throw HostError(std::errc::not_supported, "count connections");
}
int cutConnections(const std::vector<ConnectionId>&) { return 0; }

}  // namespace hostwire
