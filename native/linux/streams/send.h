// One send of a batch, and what its result means.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

namespace hostwire {

// Whether after this result the connection lives, and the kernel has no room or memory for it now.
inline bool isTemporary(std::int64_t result) {
  return result == -EAGAIN || result == -EINTR || result == -ENOBUFS || result == -ENOMEM;
}

struct Send {
  int fd = -1;
  std::string_view bytes;
  std::int32_t result = 0;  // bytes sent, or a negative errno
};

}  // namespace hostwire
