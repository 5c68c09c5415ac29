// Finds connections of a listening port whose peers have not acknowledged all sent bytes, and closes those
// whose peer never will.
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
  // Minimum time for which it has acknowledged nothing although bytes were pending; 0 if the kernel does not
  // report it.
  std::int64_t silentMs = 0;
};

// Returns whether the two functions below are supported here.
bool canReadPendingPeers();

// Returns the row of `hostwire doctor`: how stalled peers are recognized here.
Finding describePeers();

// Returns this process's connections on `port` with bytes that are unsent or unacknowledged. May be called on
// any thread: a descriptor that is closed or reused during the call does no harm. Throws HostError.
std::vector<PendingPeer> readPendingPeers(std::uint16_t port);

// Closes those of `peers` that are still the same connections, still have bytes pending and have acknowledged
// nothing since they were read; returns how many. A poller of such a descriptor gets a hang-up; once it is
// closed, the kernel keeps nothing of the connection. To be called only on the thread that opens and closes
// them, except for those that a StreamWriter owns.
int cutPeers(const std::vector<PendingPeer>& peers);

}  // namespace hostwire
