// Facts that the kernel reports about one TCP connection, and the descriptors that may be one.
#pragma once

#include <linux/tcp.h>

#include <cstdint>
#include <optional>

namespace hostwire {

// Reads TCP_INFO with the counts of bytes acknowledged and received, which kernels have had since 4.1.
// Nothing on an older one, or if the descriptor is not a TCP socket.
std::optional<tcp_info> readTcpInfo(int fd);

// Reads SO_COOKIE, which identifies a connection among all since the machine booted, even after its
// descriptor is reused.
std::optional<std::uint64_t> readCookie(int fd);

// Returns whether bytes are in the write queue of a TCP socket, where they stay until they are acknowledged.
// Unlike an ioctl or a poll, this question never reaches the driver or filesystem behind a descriptor that is
// not a socket, where it might hang. Nothing if the kernel does not report it.
std::optional<bool> hasPending(int fd);

struct TcpConnection {
  std::uint64_t cookie = 0;
  tcp_info info{};
};

// Returns the connection behind `fd`, even if the descriptor is reused during the call: its cookie is the
// same before and after the rest was read. Nothing if it is not, or readTcpInfo returns nothing.
std::optional<TcpConnection> readConnection(int fd);

// Returns a number above every descriptor of this process. Throws HostError.
int descriptorsEnd();

// Closes the connection immediately: close(2) then resets it and drops pending bytes (socket(7)), instead of
// keeping them for a peer that will not take them.
void resetConnection(int fd);

}  // namespace hostwire
