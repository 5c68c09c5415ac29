// Row of `hostwire doctor` about graphics processors, the same for every platform.
#pragma once

#include <string>
#include <vector>

#include "host/finding.h"
#include "host/gpu.h"

namespace hostwire {

// `lookedIn`: where devices are looked for, named when none was found.
Finding describeGpus(const std::vector<GpuFinding>& gpus, const std::string& lookedIn);

}  // namespace hostwire
