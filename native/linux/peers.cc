// Which connections have something pending, asked descriptor by descriptor: a dump of NETLINK_SOCK_DIAG walks
// the whole machine's hash table of connections, 5 to 11 ms however few there are, and needs another address
// family.
#include "host/peers.h"

#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <optional>

#include "host/error.h"
#include "linux/file.h"
#include "linux/parse.h"
#include "linux/socket_options.h"

namespace hostwire {
namespace {

// The kernel writes SK_MEMINFO_VARS numbers, more with each version: what does not fit is left out.
using SocketMemory = std::array<std::uint32_t, SK_MEMINFO_VARS>;

// Since 4.1 the kernel tells how much was acknowledged; an older one fills less of the structure.
std::optional<tcp_info> readTcpInfo(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  if (length < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return std::nullopt;
  return info;
}

std::optional<std::uint64_t> readCookie(int fd) {
  return readSocketOption<std::uint64_t>(fd, SOL_SOCKET, SO_COOKIE);
}

// What is in a TCP socket's write queue is there until it is acknowledged. Unlike an ioctl this question
// never reaches the driver or the filesystem of a descriptor that is no socket. `error`: why there is no
// answer.
bool hasPending(int fd, int& error) {
  const auto memory = readSocketOption<SocketMemory>(fd, SOL_SOCKET, SO_MEMINFO);
  error = memory ? 0 : errno;
  return memory && (*memory)[SK_MEMINFO_WMEM_QUEUED] > 0;
}

// A lower bound from the retransmission timer (tcp_retransmit_timer in net/ipv4/tcp_timer.c): it has run out
// tcpi_retransmits times since the last progress, each time after half of what the next time is, and data was
// last sent, again or anew, tcpi_last_data_sent ago. A peer without room answers probes instead, and is not
// told of here.
std::int64_t silentMsOf(const tcp_info& info) {
  if (info.tcpi_retransmits == 0) return 0;
  const double timerMs = info.tcpi_rto / 1000.0;
  const double ranOutMs = timerMs * (1 - std::ldexp(1.0, -static_cast<int>(info.tcpi_retransmits)));
  return static_cast<std::int64_t>(ranOutMs + std::min<double>(info.tcpi_last_data_sent, timerMs));
}

// The connection behind `fd`, whatever happens to the descriptor meanwhile: both cookies are its own.
std::optional<PendingPeer> readPeer(int fd) {
  const auto before = readCookie(fd);
  const auto info = readTcpInfo(fd);
  if (!before || !info || readCookie(fd) != before) return std::nullopt;
  return PendingPeer{fd, *before, info->tcpi_bytes_acked, silentMsOf(*info)};
}

// The first open descriptor from `fd` on; `end` without one. One poll(2) tells of many.
int nextOpen(int fd, int end) {
  std::array<pollfd, 256> polled{};
  while (fd < end) {
    const auto count = static_cast<nfds_t>(std::min<int>(polled.size(), end - fd));
    for (nfds_t i = 0; i < count; ++i) polled[i] = {fd + static_cast<int>(i), 0, 0};
    if (poll(polled.data(), count, 0) < 0) return fd;
    for (nfds_t i = 0; i < count; ++i)
      if ((polled[i].revents & POLLNVAL) == 0) return polled[i].fd;
    fd += static_cast<int>(count);
  }
  return end;
}

// Every descriptor is below it.
int descriptorsEnd() {
  std::string text;
  KeptFile status("/proc/self/status");
  const auto size = parseDescriptorTableSize(status.read(text));
  if (!size) throw HostError(ENODATA, "read FDSize of /proc/self/status");
  return *size;
}

}  // namespace

bool canReadPendingPeers() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int error = 0;
  hasPending(socket.get(), error);
  std::string text;
  return socket.isOpen() && error == 0 && readCookie(socket.get()).value_or(0) != 0 &&
         readTcpInfo(socket.get()) &&
         parseDescriptorTableSize(KeptFile("/proc/self/status").readHeadIfPresent(text, 4096));
}

std::vector<PendingPeer> readPendingPeers(std::uint16_t port) {
  std::vector<PendingPeer> peers;
  const int end = descriptorsEnd();
  for (int fd = 0; fd < end; ++fd) {
    int error = 0;
    if (hasPending(fd, error)) {
      if (localPortOf(fd) != port) continue;
      if (const auto peer = readPeer(fd)) peers.push_back(*peer);
    } else if (error == EBADF) {
      fd = nextOpen(fd + 1, end) - 1;
    }
  }
  return peers;
}

int cutPeers(const std::vector<PendingPeer>& peers) {
  int cut = 0;
  for (const PendingPeer& peer : peers) {
    int error = 0;
    const auto now = readPeer(peer.descriptor);
    if (!now || now->cookie != peer.cookie || now->acknowledgedBytes != peer.acknowledgedBytes) continue;
    if (!hasPending(peer.descriptor, error)) continue;
    // socket(7): close(2) then resets the connection and drops what is pending, instead of keeping it for a
    // peer that will not take it.
    const linger reset{1, 0};
    setsockopt(peer.descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    shutdown(peer.descriptor, SHUT_RDWR);
    ++cut;
  }
  return cut;
}

}  // namespace hostwire
