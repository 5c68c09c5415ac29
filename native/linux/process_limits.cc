// What the kernel allows this process.
#include <sys/resource.h>

#include "host/limits.h"

namespace hostwire {

// getrlimit(2): the soft limit is the one that binds. Node raises it to the hard one when it starts.
std::optional<std::uint64_t> descriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace hostwire
