// The processors' clock speeds from the performance counters, otherwise from the power manager.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/finding.h"
#include "windows/win32/pdh_query.h"

namespace hostwire {

struct CpuSpeeds {
  std::optional<double> meanHz;
  std::vector<double> coresHz;  // in the order of the processors; empty without values per processor
};

// Belongs to one prober's question: used by one thread at a time.
class CpuSpeed {
 public:
  CpuSpeeds read();

 private:
  std::optional<PdhQuery> query_;
  bool isTried_ = false;
};

// Returns the row about the speed: the mean of the processors.
Finding describeSpeed(std::optional<double> hz);

}  // namespace hostwire
