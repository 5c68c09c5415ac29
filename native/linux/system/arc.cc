// /proc/spl/kstat/zfs/arcstats, written by OpenZFS.
#include "linux/system/arc.h"

#include <sys/stat.h>

#include "linux/kernel/parse_proc.h"

namespace hostwire {
namespace {

// Time between searches: the module may be loaded later, and most machines never load it.
constexpr std::chrono::minutes kLookInterval{1};

bool areOnSameFilesystem(int a, int b) {
  struct stat first {};
  struct stat second {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev;
}

}  // namespace

ArcCache::ArcCache(const Roots& roots) : stats_(roots.proc + "/spl/kstat/zfs/arcstats") {}

std::uint64_t ArcCache::readShrinkableBytes(int meminfo, std::string& buffer) {
  if (stats_.descriptor() < 0) {
    const auto now = Clock::now();
    if (lookedAt_ && now - *lookedAt_ < kLookInterval) return 0;
    lookedAt_ = now;
  }
  const std::uint64_t bytes = parseShrinkableArc(stats_.readIfPresent(buffer)).value_or(0);
  return bytes > 0 && areOnSameFilesystem(meminfo, stats_.descriptor()) ? bytes : 0;
}

}  // namespace hostwire
