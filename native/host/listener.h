// Tunes the service's listening socket; what is set there every accepted connection inherits.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

struct ListenerOptions {
  std::optional<int> notSentLowWaterBytes;  // TCP_NOTSENT_LOWAT: when a reader counts as full
  std::optional<int> userTimeoutMs;         // TCP_USER_TIMEOUT: unacknowledged for so long means gone
  std::optional<int> keepAliveIdleSeconds;  // SO_KEEPALIVE and its three times
  std::optional<int> keepAliveIntervalSeconds;
  std::optional<int> keepAliveProbes;
  std::optional<int> sendBufferBytes;  // SO_SNDBUF
  std::optional<int> backlog;          // a second listen() on the same socket
};

// Finds this process's listening TCP sockets on `port` and applies the options.
// Returns how many sockets were tuned: 0 where the platform can't, or none listens there.
int tuneListener(std::uint16_t port, const ListenerOptions& options);

}  // namespace hostwire
