// Tunes the service's listening socket; accepted connections inherit its options.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

struct ListenerOptions {
  std::optional<int> notSentLowWaterBytes;  // TCP_NOTSENT_LOWAT: when a client's socket counts as full
  std::optional<int> userTimeoutMs;         // TCP_USER_TIMEOUT: a peer that acknowledges nothing is dropped
  std::optional<int> keepAliveIdleSeconds;  // SO_KEEPALIVE and its three intervals
  std::optional<int> keepAliveIntervalSeconds;
  std::optional<int> keepAliveProbes;
  std::optional<int> sendBufferBytes;     // SO_SNDBUF
  std::optional<int> receiveBufferBytes;  // SO_RCVBUF: the maximum that one read may return
  std::optional<int> backlog;             // a second listen() on the same socket
};

// Finds this process's listening TCP sockets on `port` and applies the options. Returns the number of sockets
// tuned: 0 where the platform does not support it, or no socket listens there.
int tuneListener(std::uint16_t port, const ListenerOptions& options);

}  // namespace hostwire
