// The row of `hostwire doctor` on graphics processors, the same for every platform that reads them.
#pragma once

#include <string>
#include <vector>

#include "host/finding.h"
#include "host/gpu.h"

namespace hostwire {

// `lookedIn`: where devices are looked for, named when there is none.
Finding describeGpus(const std::vector<GpuFinding>& gpus, const std::string& lookedIn);

}  // namespace hostwire
