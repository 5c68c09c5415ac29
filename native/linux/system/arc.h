// The memory that ZFS keeps as its cache (ARC) and releases when programs need it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "host/roots.h"
#include "linux/kernel/file.h"

namespace hostwire {

// The page cache counts as available in meminfo; the ARC is allocated by a module, so the kernel counts it as
// used.
class ArcCache {
 public:
  explicit ArcCache(const Roots& roots);

  // Returns 0 without ZFS, and also if `meminfo`, the descriptor that the other numbers come from, is not a
  // file of the same filesystem: lxcfs mounts a container's own numbers over the kernel's file, while the
  // cache remains that of the whole machine.
  std::uint64_t readShrinkableBytes(int meminfo, std::string& buffer);

 private:
  using Clock = std::chrono::steady_clock;

  KeptFile stats_;
  std::optional<Clock::time_point> lookedAt_;
};

}  // namespace hostwire
