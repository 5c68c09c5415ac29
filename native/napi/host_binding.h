// The JavaScript class `Host`: one machine seen through one set of roots.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <vector>

#include "host/metrics.h"
#include "host/prober.h"
#include "host/roots.h"
#include "host/uptime.h"
#include "napi/detached_work.h"
#include "napi/details.h"
#include "napi/sections.h"

namespace hostwire {

class HostBinding : public Napi::ObjectWrap<HostBinding> {
 public:
  static Napi::Function define(Napi::Env env, const std::shared_ptr<Completions>& completions);
  // new Host({proc?, sys?, files?, nvml?, gpuRetryMs?, gpuDiscoveryMs?, gpuMaxAgeMs?, gpuIdleMs?})
  explicit HostBinding(const Napi::CallbackInfo& info);

 private:
  // readCounters(sections: number, withDetail: boolean, nextInMs: number, details?: number): Counters
  Napi::Value readCounters(const Napi::CallbackInfo& info);
  // describe(): {findings: Finding[], isPending: boolean}. Takes a reading with detail; values from probers
  // are missing in the first one. isPending: a device has yet to answer, and may answer within seconds.
  Napi::Value describe(const Napi::CallbackInfo& info);
  // readSystem(): Promise<SystemInfo>
  Napi::Value readSystem(const Napi::CallbackInfo& info);
  // readBroadcastAddresses(): Promise<BroadcastAddress[]>
  Napi::Value readBroadcastAddresses(const Napi::CallbackInfo& info);
  // readWakeOnLan(): Promise<WakeOnLan[]>
  Napi::Value readWakeOnLan(const Napi::CallbackInfo& info);
  // readMetrics(): Promise<Buffer>
  Napi::Value readMetrics(const Napi::CallbackInfo& info);

  Roots roots_;
  // The readers share it, so they are destroyed first.
  ProberPool probers_;
  std::optional<UptimeReader> uptime_;
  std::vector<Section> sections_;
  std::vector<Detail> details_;
  // Created by the first request for metrics; shared with the thread that reads them.
  std::shared_ptr<MetricsReader> metrics_;
  std::shared_ptr<Completions> completions_;
};

}  // namespace hostwire
