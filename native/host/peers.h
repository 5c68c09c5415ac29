// Connections of a listening port whose peers have not acknowledged everything that was sent, and closing
// those whose peer never will.
#pragma once

#include <cstdint>
#include <vector>

#include "host/finding.h"

namespace hostwire {

struct PendingPeer {
  int descriptor = -1;
  // Identifies this connection among all since the machine booted, even after its descriptor is reused.
  std::uint64_t cookie = 0;
  // Bytes that the peer has acknowledged since the connection was made; never decreases.
  std::uint64_t acknowledgedBytes = 0;
  // The minimum time for which it has acknowledged nothing although something was pending; 0 where the kernel
  // does not report it.
  std::int64_t silentMs = 0;
};

// Whether the two functions below work here.
bool canReadPendingPeers();

// How peers that take nothing are recognized here: the row of `hostwire doctor`.
Finding describePeers();

// This process's connections on `port` with bytes that are unsent or unacknowledged. May be called on any
// thread: a descriptor that is closed or reused meanwhile does no harm. Throws HostError.
std::vector<PendingPeer> readPendingPeers(std::uint16_t port);

// Closes those of `peers` that are still the same connections, still have bytes pending and have acknowledged
// nothing since they were read; returns how many. A poller of such a descriptor gets a hang-up; once it is
// closed, nothing of the connection is left in the kernel. Only on the thread that opens and
// closes them, apart from those that a StreamWriter owns.
int cutPeers(const std::vector<PendingPeer>& peers);

}  // namespace hostwire
