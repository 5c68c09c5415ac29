// Windows reports what peers have acknowledged to administrators only (GetPerTcpConnectionEStats).
#include "host/peers.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

bool canReadPendingPeers() { return false; }
std::vector<PendingPeer> readPendingPeers(std::uint16_t) { throw HostError(ENOTSUP, "read pending peers"); }
int cutPeers(const std::vector<PendingPeer>&) { return 0; }

}  // namespace hostwire
