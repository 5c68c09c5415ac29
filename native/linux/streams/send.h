// One send of a batch.
#pragma once

#include <cstdint>
#include <string_view>

namespace hostwire {

struct Send {
  int fd = -1;
  std::string_view bytes;
  std::int32_t result = 0;  // bytes sent, or a negative errno
};

}  // namespace hostwire
