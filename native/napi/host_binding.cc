// The JavaScript class `Host`.
#include "napi/host_binding.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "host/clock.h"
#include "host/system.h"
#include "napi/promise.h"
#include "napi/to_js.h"

namespace hostwire {
namespace {

// The bits of readCounters' first argument; src/host/native.ts has the same.
enum Section : std::uint32_t { kCpu = 1, kMemory = 2, kGpu = 4, kDisks = 8, kNetwork = 16 };

// How long before the next reading the probers ask, so that their answers are fresh then.
constexpr std::chrono::milliseconds kProbeLead{100};

void setRoot(const Napi::Object& options, const char* key, std::string& root) {
  const Napi::Value value = options.Get(key);
  if (value.IsString()) root = value.As<Napi::String>().Utf8Value();
}

void setMilliseconds(const Napi::Object& options, const char* key, std::chrono::milliseconds& time) {
  const Napi::Value value = options.Get(key);
  if (value.IsNumber()) time = std::chrono::milliseconds(value.As<Napi::Number>().Int64Value());
}

}  // namespace

Napi::Function HostBinding::define(Napi::Env env) {
  return DefineClass(env, "Host",
                     {InstanceMethod<&HostBinding::readCounters>("readCounters"),
                      InstanceMethod<&HostBinding::describeGpus>("describeGpus"),
                      InstanceMethod<&HostBinding::readSystem>("readSystem")});
}

HostBinding::HostBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<HostBinding>(info) {
  GpuOptions gpuOptions;
  if (info[0].IsObject()) {
    const auto options = info[0].As<Napi::Object>();
    setRoot(options, "proc", roots_.proc);
    setRoot(options, "sys", roots_.sys);
    setRoot(options, "files", roots_.files);
    setRoot(options, "nvml", gpuOptions.nvmlLibrary);
    setMilliseconds(options, "gpuRetryMs", gpuOptions.retryDelay);
    setMilliseconds(options, "gpuDiscoveryMs", gpuOptions.discoveryInterval);
  }
  readers_ = std::make_unique<Readers>(roots_, gpuOptions);
}

Napi::Value HostBinding::readCounters(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::uint32_t sections = info[0].ToNumber().Uint32Value();
  const bool withDetail = info[1].ToBoolean().Value();
  const std::chrono::milliseconds nextIn{std::max<std::int64_t>(0, info[2].ToNumber().Int64Value())};

  const ClockReading clock = readClock();
  SectionValues values(env);
  // A section that can't be read is null, its reason in `failures`; it never costs another one.
  const auto fail = [&](const char* key, const std::string& reason) {
    if (values.failures.IsUndefined()) values.failures = Napi::Object::New(env);
    values.failures.As<Napi::Object>().Set(key, Napi::String::New(env, reason));
  };
  const auto readSection = [&](Section section, const char* key, Napi::Value& value, auto& reader) {
    if ((sections & section) == 0) return;
    try {
      value = toJs(env, reader.read(withDetail), withDetail);
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      value = env.Null();
      fail(key, error.what());
    }
  };
  readSection(kCpu, "cpu", values.cpu, readers_->cpu);
  readSection(kMemory, "memory", values.memory, readers_->memory);
  readSection(kGpu, "gpus", values.gpus, readers_->gpu);
  // Of several devices one may be missing.
  if ((sections & kGpu) != 0 && !readers_->gpu.failure().empty()) fail("gpus", readers_->gpu.failure());
  readSection(kDisks, "disks", values.disks, readers_->disks);
  readSection(kNetwork, "interfaces", values.interfaces, readers_->network);

  if (withDetail) {
    values.sensors = toJs(env, readers_->sensors.read());
    values.batteries = toJs(env, readers_->batteries.read());
  }
  const Napi::Value counters = toJs(env, clock, values);
  readers_->probers.askAll(std::max(std::chrono::milliseconds{0}, nextIn - kProbeLead));
  return counters;
}

Napi::Value HostBinding::describeGpus(const Napi::CallbackInfo& info) {
  return toJs(info.Env(), readers_->gpu.describe());
}

Napi::Value HostBinding::readSystem(const Napi::CallbackInfo& info) {
  return PromiseWork<SystemInfo>::start(
      info.Env(), [roots = roots_] { return hostwire::readSystem(roots); },
      [](Napi::Env env, const SystemInfo& system) { return toJs(env, system); });
}

}  // namespace hostwire
