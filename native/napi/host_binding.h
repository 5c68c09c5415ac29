// The JavaScript class `Host`: one machine seen through one set of roots.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "host/gpu.h"
#include "host/prober.h"
#include "host/roots.h"
#include "napi/details.h"
#include "napi/sections.h"

namespace hostwire {

class HostBinding : public Napi::ObjectWrap<HostBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Host({proc?, sys?, files?, nvml?, gpuRetryMs?, gpuDiscoveryMs?, gpuMaxAgeMs?, gpuIdleMs?})
  explicit HostBinding(const Napi::CallbackInfo& info);

 private:
  // readCounters(sections: number, withDetail: boolean, nextInMs: number): Counters
  Napi::Value readCounters(const Napi::CallbackInfo& info);
  // describeGpus(): GpuFinding[], as of the last reading
  Napi::Value describeGpus(const Napi::CallbackInfo& info);
  // readSystem(): Promise<SystemInfo>
  Napi::Value readSystem(const Napi::CallbackInfo& info);

  Roots roots_;
  // The readers share it, so they are destroyed first.
  ProberPool probers_;
  std::shared_ptr<GpuReader> gpu_;
  std::vector<Section> sections_;
  std::vector<Detail> details_;
};

}  // namespace hostwire
