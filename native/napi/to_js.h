// Structs to JavaScript objects: the only place that knows JavaScript's keys. They mirror src/host/host.ts.
#pragma once

#include <napi.h>

#include <optional>
#include <vector>

#include "host/batteries.h"
#include "host/clock.h"
#include "host/cpu.h"
#include "host/disks.h"
#include "host/gpu.h"
#include "host/memory.h"
#include "host/network.h"
#include "host/sensors.h"
#include "host/system.h"

namespace hostwire {

Napi::Value toJs(Napi::Env env, const CpuCounters& counters, bool withDetail);
Napi::Value toJs(Napi::Env env, const MemoryCounters& counters, bool withDetail);
Napi::Value toJs(Napi::Env env, const std::vector<DiskCounters>& counters, bool withDetail);
Napi::Value toJs(Napi::Env env, const std::vector<InterfaceCounters>& counters, bool withDetail);
Napi::Value toJs(Napi::Env env, const std::vector<GpuCounters>& counters, bool withDetail);
Napi::Value toJs(Napi::Env env, const std::vector<GpuFinding>& findings);
Napi::Value toJs(Napi::Env env, const SystemInfo& info);
Napi::Value toJs(Napi::Env env, const std::optional<EnergyReading>& energy);
Napi::Value toJs(Napi::Env env, const std::vector<SensorCounters>& sensors);
Napi::Value toJs(Napi::Env env, const std::vector<BatteryCounters>& batteries);

// The sections of one reading and what detail shows beside them; undefined what was not asked for.
struct SectionValues {
  explicit SectionValues(Napi::Env env)
      : cpu(env.Undefined()),
        memory(cpu),
        gpus(cpu),
        disks(cpu),
        interfaces(cpu),
        failures(cpu),
        sensors(cpu),
        batteries(cpu) {}
  Napi::Value cpu;
  Napi::Value memory;
  Napi::Value gpus;
  Napi::Value disks;
  Napi::Value interfaces;
  // Why a section is null, by its key.
  Napi::Value failures;
  Napi::Value sensors;
  Napi::Value batteries;
};
Napi::Value toJs(Napi::Env env, const ClockReading& clock, const SectionValues& sections);

}  // namespace hostwire
