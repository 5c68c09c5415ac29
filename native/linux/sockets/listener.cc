// Finds the service's listening socket among the process's descriptors and tunes it.
#include "host/listener.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "linux/kernel/directory.h"
#include "linux/sockets/options.h"

namespace hostwire {
namespace {

// tcp(7), socket(7). Every accepted socket inherits these options. A buffer of a set size is fixed: the
// kernel no longer grows it.
bool tune(int fd, const ListenerOptions& options) {
  bool isTuned = true;
  const auto set = [&](int level, int name, std::optional<int> value) {
    if (value) isTuned = setsockopt(fd, level, name, &*value, sizeof *value) == 0 && isTuned;
  };
  set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, options.notSentLowWaterBytes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, options.userTimeoutMs);
  set(IPPROTO_TCP, TCP_KEEPIDLE, options.keepAliveIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, options.keepAliveIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, options.keepAliveProbes);
  const bool wantsKeepAlive =
      options.keepAliveIdleSeconds || options.keepAliveIntervalSeconds || options.keepAliveProbes;
  if (wantsKeepAlive) set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(SOL_SOCKET, SO_SNDBUF, options.sendBufferBytes);
  set(SOL_SOCKET, SO_RCVBUF, options.receiveBufferBytes);
  // A second listen(2) only changes the queue's length; net.core.somaxconn caps it.
  if (options.backlog) isTuned = listen(fd, *options.backlog) == 0 && isTuned;
  return isTuned;
}

}  // namespace

int tuneListener(std::uint16_t port, const ListenerOptions& options) {
  int tuned = 0;
  for (const std::string& name : listFolder("/proc/self/fd")) {
    int fd = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    const bool isListening = readSocketOption<int>(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1;
    if (isListening && localPortOf(fd) == port && tune(fd, options)) ++tuned;
  }
  return tuned;
}

}  // namespace hostwire
