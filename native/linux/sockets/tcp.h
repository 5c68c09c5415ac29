// Facts that the kernel reports about one TCP connection, and the descriptors that may be one.
#pragma once

#include <optional>

namespace hostwire {

// Returns whether bytes are in the write queue of a TCP socket, where they stay until they are acknowledged.
// Unlike an ioctl or a poll, this question never reaches the driver or filesystem behind a descriptor that is
// not a socket, where it might hang. Nothing if the kernel does not report it.
std::optional<bool> hasPending(int fd);

// Returns a number above every descriptor of this process. Throws HostError.
int descriptorsEnd();

}  // namespace hostwire
