// The peers of a listening port's connections that have not acknowledged all that was sent to them, and how
// to cut one that never will.
#pragma once

#include <cstdint>
#include <vector>

namespace hostwire {

struct PendingPeer {
  int descriptor = -1;
  // Tells this connection from every other since the machine's start, also after its descriptor is used
  // again.
  std::uint64_t cookie = 0;
  // How many bytes the peer has acknowledged since the connection was made: it never goes back.
  std::uint64_t acknowledgedBytes = 0;
  // It has acknowledged nothing for at least so long, and had something to; 0 where the kernel can't tell.
  std::int64_t silentMs = 0;
};

// Whether the two below can work here.
bool canReadPendingPeers();

// This process's connections on `port` with bytes that are not sent or not acknowledged. Off the main thread
// as well: a descriptor that is closed or used again meanwhile does no harm. Throws HostError.
std::vector<PendingPeer> readPendingPeers(std::uint16_t port);

// Ends those of `peers` that are still the same connections, have still bytes pending and have acknowledged
// nothing since they were read; how many. Who polls such a descriptor is told that it has hung up; once it is
// closed, nothing of the connection is left in the kernel. Only on the thread that opens and closes them.
int cutPeers(const std::vector<PendingPeer>& peers);

}  // namespace hostwire
