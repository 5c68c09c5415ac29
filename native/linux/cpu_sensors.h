// The processor's temperature and clock speed, asked by a prober: both can be slow, and a sensor can hang.
#pragma once

#include "host/cpu.h"
#include "host/prober.h"
#include "host/roots.h"

namespace hostwire {

class CpuSensors {
 public:
  CpuSensors(const Roots& roots, ProberPool& probers);
  // Fills temperatureCelsius, speedHz and, with detail, coreSpeedsHz (in the order of `counters.cores`).
  void read(CpuCounters& counters, bool withDetail);
};

}  // namespace hostwire
