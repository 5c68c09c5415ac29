// Connections with pending bytes, asked descriptor by descriptor: a dump of NETLINK_SOCK_DIAG walks the whole
// machine's hash table of connections, 5 to 11 ms even for a few, and needs another address family.
#include "host/peers.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>

#include "host/error.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/sockets/closing.h"
#include "linux/sockets/options.h"
#include "linux/sockets/tcp.h"

namespace hostwire {
namespace {

// A lower bound from the retransmission timer (tcp_retransmit_timer in net/ipv4/tcp_timer.c): it has expired
// tcpi_retransmits times since the last progress, each time after half of the next interval, and data was
// last sent, again or for the first time, tcpi_last_data_sent ago. A peer with a full buffer answers probes
// instead and is not covered here.
std::int64_t silentMsOf(const tcp_info& info) {
  if (info.tcpi_retransmits == 0) return 0;
  const double timerMs = info.tcpi_rto / 1000.0;
  const double ranOutMs = timerMs * (1 - std::ldexp(1.0, -static_cast<int>(info.tcpi_retransmits)));
  return static_cast<std::int64_t>(ranOutMs + std::min<double>(info.tcpi_last_data_sent, timerMs));
}

std::optional<PendingPeer> readPeer(int fd) {
  const auto connection = readConnection(fd);
  if (!connection) return std::nullopt;
  const auto& [cookie, info] = *connection;
  return PendingPeer{fd, cookie, info.tcpi_bytes_acked, silentMsOf(info)};
}

}  // namespace

bool canReadPendingPeers() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::string text;
  return hasPending(socket.get()) && readCookie(socket.get()).value_or(0) != 0 && readTcpInfo(socket.get()) &&
         parseDescriptorTableSize(KeptFile("/proc/self/status").readHeadIfPresent(text, 4096));
}

Finding describePeers() {
  if (canReadPendingPeers())
    return Finding::works("peers", "stalled clients are detected by unacknowledged data");
  return Finding::partly("peers", "the kernel's own timer (TCP_USER_TIMEOUT)",
                         {"this kernel does not report what clients acknowledge: one that stalls repeatedly "
                          "may be cut early",
                          ""});
}

std::vector<PendingPeer> readPendingPeers(std::uint16_t port) {
  std::vector<PendingPeer> peers;
  const int end = descriptorsEnd();
  for (int fd = 0; fd < end; ++fd) {
    if (!hasPending(fd).value_or(false) || localPortOf(fd) != port) continue;
    if (const auto peer = readPeer(fd)) peers.push_back(*peer);
  }
  return peers;
}

int cutPeers(const std::vector<PendingPeer>& peers) {
  int cut = 0;
  for (const PendingPeer& peer : peers) {
    const std::lock_guard lock(closingLock());
    const auto now = readPeer(peer.descriptor);
    if (!now || now->cookie != peer.cookie || now->acknowledgedBytes != peer.acknowledgedBytes) continue;
    if (!hasPending(peer.descriptor).value_or(false)) continue;
    resetConnection(peer.descriptor);
    ++cut;
  }
  return cut;
}

}  // namespace hostwire
