// The graphics processors of Windows and their performance counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/gpu.h"
#include "windows/win32/pdh_query.h"

namespace hostwire {

struct GpuAdapter {
  std::uint64_t luid = 0;
  std::uint32_t vendorId = 0;
  std::string name;
  std::uint64_t dedicatedBytes = 0;
  std::uint64_t sharedBytes = 0;

  // Returns whether all or nearly all of its memory is a part of the machine's own.
  bool isIntegrated() const;
};

inline constexpr std::uint32_t kNvidiaVendor = 0x10DE;

// Returns "NVIDIA", "AMD", "Intel", "Qualcomm", otherwise "1234".
std::string gpuVendorOf(std::uint32_t vendorId);

struct GpuAdapterReading {
  GpuAdapter adapter;
  GpuValues values;
};

// Belongs to one prober's question: used by one thread at a time.
class GpuAdapters {
 public:
  explicit GpuAdapters(std::chrono::milliseconds interval);
  ~GpuAdapters();
  // Returns the adapters that render in hardware, in Windows' order: the one of the first display comes
  // first.
  std::vector<GpuAdapterReading> read();

 private:
  struct Factory;

  void look();

  const std::chrono::milliseconds interval_;
  std::unique_ptr<Factory> factory_;
  std::vector<GpuAdapter> adapters_;
  std::optional<PdhQuery> query_;
  std::optional<std::chrono::steady_clock::time_point> lookedAt_;
};

}  // namespace hostwire
