// What the kernel reports of one TCP connection, and the descriptors that may be one.
#pragma once

#include <linux/tcp.h>

#include <cstdint>
#include <optional>

namespace hostwire {

// TCP_INFO with the counts of bytes acknowledged and received, which kernels have had since 4.1. Nothing on
// an older one, or where the descriptor is no TCP socket.
std::optional<tcp_info> readTcpInfo(int fd);

// SO_COOKIE: identifies a connection among all since the machine booted, even after its descriptor is reused.
std::optional<std::uint64_t> readCookie(int fd);

// Whether bytes are in the write queue of a TCP socket, where they stay until they are acknowledged. Unlike
// an ioctl or a poll, this question never reaches the driver or filesystem behind a descriptor that is not a
// socket, where it might hang. Nothing where the kernel does not say.
std::optional<bool> hasPending(int fd);

struct TcpConnection {
  std::uint64_t cookie = 0;
  tcp_info info{};
};

// The connection behind `fd`, whatever happens to the descriptor meanwhile: its cookie is the same before and
// after the rest was read. Nothing where it is not, or where readTcpInfo has nothing.
std::optional<TcpConnection> readConnection(int fd);

// Above every descriptor of this process. Throws HostError.
int descriptorsEnd();

// Closes the connection at once: socket(7), close(2) then resets it and drops what is pending, instead of
// keeping it for a peer that will not take it.
void resetConnection(int fd);

}  // namespace hostwire
