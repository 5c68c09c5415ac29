// Memory counters, in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "host/finding.h"
#include "host/pressure.h"
#include "host/roots.h"

namespace hostwire {

struct MemoryCounters {
  std::uint64_t totalBytes = 0;
  std::uint64_t availableBytes = 0;
  std::optional<std::uint64_t> cachedBytes;
  std::optional<std::uint64_t> buffersBytes;
  std::optional<std::uint64_t> swapTotalBytes;
  std::optional<std::uint64_t> swapFreeBytes;
  std::optional<Pressure> pressure;
};

class MemoryReader {
 public:
  explicit MemoryReader(const Roots& roots);
  ~MemoryReader();
  // Throws HostError when no value can be read. `withDetail` adds the values that only detail shows.
  MemoryCounters read(bool withDetail);
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
