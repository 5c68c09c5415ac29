// What the kernel and the C library allow this process.
#include <malloc.h>
#include <sys/resource.h>

#include "host/limits.h"

namespace hostwire {

// getrlimit(2): the soft limit is the one that binds. Node raises it to the hard one when it starts.
std::optional<std::uint64_t> descriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// mallopt(3), of the GNU C library only. Threads that already have a heap of their own keep it.
void shareOneHeap() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace hostwire
