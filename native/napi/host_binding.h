// The JavaScript class `Host`: one machine seen through one set of roots.
#pragma once

#include <napi.h>

#include <memory>

#include "host/batteries.h"
#include "host/cpu.h"
#include "host/disks.h"
#include "host/gpu.h"
#include "host/memory.h"
#include "host/network.h"
#include "host/prober.h"
#include "host/roots.h"
#include "host/sensors.h"

namespace hostwire {

class HostBinding : public Napi::ObjectWrap<HostBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Host({proc?, sys?, files?})
  explicit HostBinding(const Napi::CallbackInfo& info);

 private:
  // The readers share the pool of probers, so they go first.
  struct Readers {
    explicit Readers(const Roots& roots)
        : cpu(roots, probers),
          memory(roots),
          gpu(roots, probers),
          disks(roots, probers),
          network(roots, probers),
          sensors(roots, probers),
          batteries(roots, probers) {}
    ProberPool probers;
    CpuReader cpu;
    MemoryReader memory;
    GpuReader gpu;
    DisksReader disks;
    NetworkReader network;
    SensorsReader sensors;
    BatteriesReader batteries;
  };

  // readCounters(sections: number, withDetail: boolean, nextInMs: number): Counters
  Napi::Value readCounters(const Napi::CallbackInfo& info);
  // readSystem(): Promise<SystemInfo>
  Napi::Value readSystem(const Napi::CallbackInfo& info);

  Roots roots_;
  std::unique_ptr<Readers> readers_;
};

}  // namespace hostwire
