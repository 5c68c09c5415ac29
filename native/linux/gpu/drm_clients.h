// Computes how busy processes keep a graphics processor whose driver reports no load, from DRM's accounting
// per client.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/gpu/devices.h"
#include "linux/gpu/parse_gpu.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Only processes that this one may inspect count (its user's, or all for root). Belongs to one prober's
// question: used by one thread at a time. It keeps the previous reading, because a client's counters mean
// nothing without the same client's earlier ones, and clients come and go between two samples.
class DrmClients {
 public:
  DrmClients(std::string proc, const GpuDevice& device);
  // Returns percent since the previous reading; if that is too old, over a short wait. Nothing if no client
  // is visible.
  std::optional<double> readLoad();

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::uint64_t id = 0;
    KeptFile file;
  };

  void scan();
  void scanProcess(const std::string& pid);
  void keep(const std::string& path);
  std::vector<DrmClient> readKept();
  void readBefore();

  std::string proc_;
  std::string address_;  // as clients name it: empty off PCI
  std::vector<std::string> nodes_;
  std::vector<Kept> kept_;
  std::vector<DrmClient> before_;
  Clock::time_point beforeAt_;
  std::optional<Clock::time_point> scannedAt_;
  std::string nextPid_;  // where to continue a scan that ran out of time
  std::optional<double> load_;
  std::string buffer_;
};

}  // namespace hostwire
