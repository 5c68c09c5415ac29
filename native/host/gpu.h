// Graphics processors. Every value is a prober's last answer; none means that nobody could read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

class ProberPool;

struct GpuCounters {
  std::string name;
  std::string vendor;
  std::optional<double> loadPercent;
  std::optional<double> temperatureCelsius;
  std::optional<std::uint64_t> memoryUsedBytes;
  std::optional<std::uint64_t> memoryTotalBytes;
  std::optional<double> powerWatts;
  std::optional<double> fanPercent;
  std::optional<double> clockMhz;
  bool isAsleep = false;
};

class GpuReader {
 public:
  GpuReader(const Roots& roots, ProberPool& probers);
  ~GpuReader();
  std::vector<GpuCounters> read(bool withDetail);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
