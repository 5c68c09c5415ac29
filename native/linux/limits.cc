// Limits that the kernel and the C library set for this process.
#include <dirent.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <memory>

#include "host/limits.h"

namespace hostwire {

// getrlimit(2): the soft limit is the one that binds. Node raises it to the hard one when it starts.
std::optional<std::uint64_t> descriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// proc_pid_fd(5): since Linux 6.2 the size of the folder is the number of its entries; before, it is 0.
// Listing the entries waits for nothing and takes about 10 ms per 20,000.
std::optional<std::uint64_t> openDescriptors() {
  constexpr const char* kFolder = "/proc/self/fd";
  struct stat status {};
  if (stat(kFolder, &status) != 0) return std::nullopt;
  if (status.st_size > 0) return static_cast<std::uint64_t>(status.st_size);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), closedir);
  if (!folder) return std::nullopt;
  std::uint64_t count = 0;
  while (readdir(folder.get()) != nullptr) ++count;
  // Excludes ".", ".." and the folder's own descriptor.
  return count - 3;
}

// mallopt(3) is of the GNU C library only. Threads that already have a heap of their own keep it.
void tuneHeap() {
#ifdef M_ARENA_MAX
  constexpr int kLargeBlock = 128 * 1024;  // the C library's own default, which it would raise
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
#endif
}

// malloc_trim(3) is of the GNU C library only.
void trimHeap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace hostwire
