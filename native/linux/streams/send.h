// One send of a batch, and the meaning of its result.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

namespace hostwire {

// Returns whether after this result the connection is alive, and the kernel only lacks room or memory for it
// now.
inline bool isTemporary(std::int64_t result) {
  return result == -EAGAIN || result == -EINTR || result == -ENOBUFS || result == -ENOMEM;
}

struct Send {
  int fd = -1;
  std::string_view bytes;
  std::int32_t result = 0;  // bytes sent, or a negative errno
};

}  // namespace hostwire
