// The table of functions that JavaScript may call; src/host/native.ts is its only caller.
#include <napi.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "host/clock.h"
#include "host/folders.h"
#include "host/limits.h"
#include "host/listener.h"
#include "napi/controls_binding.h"
#include "napi/detached_work.h"
#include "napi/discovery_binding.h"
#include "napi/host_binding.h"
#include "napi/media_binding.h"
#include "napi/output_binding.h"
#include "napi/peers_binding.h"
#include "napi/power_binding.h"
#include "napi/processes_binding.h"
#include "napi/service_binding.h"
#include "napi/streams_binding.h"

namespace hostwire {
namespace {

std::optional<int> optionOf(const Napi::Object& options, const char* key) {
  const Napi::Value value = options.Get(key);
  if (!value.IsNumber()) return std::nullopt;
  return value.As<Napi::Number>().Int32Value();
}

// tuneListener(port: number, options: ListenerOptions): number of sockets tuned
Napi::Value tuneListenerFromJs(const Napi::CallbackInfo& info) {
  const auto port = static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value());
  const auto given = info[1].ToObject();
  ListenerOptions options;
  options.notSentLowWaterBytes = optionOf(given, "notSentLowWaterBytes");
  options.userTimeoutMs = optionOf(given, "userTimeoutMs");
  options.keepAliveIdleSeconds = optionOf(given, "keepAliveIdleSeconds");
  options.keepAliveIntervalSeconds = optionOf(given, "keepAliveIntervalSeconds");
  options.keepAliveProbes = optionOf(given, "keepAliveProbes");
  options.sendBufferBytes = optionOf(given, "sendBufferBytes");
  options.receiveBufferBytes = optionOf(given, "receiveBufferBytes");
  options.backlog = optionOf(given, "backlog");
  return Napi::Number::New(info.Env(), tuneListener(port, options));
}

// sinceBootMs(): number
Napi::Value sinceBootMsFromJs(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(readClock().sinceBootNs) / 1e6);
}

// descriptorLimit(): number, Infinity without a limit
Napi::Value descriptorLimitFromJs(const Napi::CallbackInfo& info) {
  const std::optional<std::uint64_t> limit = descriptorLimit();
  return Napi::Number::New(info.Env(),
                           limit ? static_cast<double>(*limit) : std::numeric_limits<double>::infinity());
}

// openDescriptors(): number | undefined
Napi::Value openDescriptorsFromJs(const Napi::CallbackInfo& info) {
  const std::optional<std::uint64_t> open = openDescriptors();
  return open ? Napi::Number::New(info.Env(), static_cast<double>(*open)) : info.Env().Undefined();
}

// machineDataFolder(): string | undefined
Napi::Value machineDataFolderFromJs(const Napi::CallbackInfo& info) {
  const auto folder = machineDataFolder();
  return folder ? Napi::String::New(info.Env(), *folder) : info.Env().Undefined();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  tuneHeap();
  // For readers of the machine and its sockets; processes and media have their own.
  const auto completions = Completions::open(env);
  exports.Set("Host", HostBinding::define(env, completions));
  exports.Set("Controls", ControlsBinding::define(env));
  exports.Set("Discovery", DiscoveryBinding::define(env));
  exports.Set("Media", MediaBinding::define(env));
  exports.Set("Power", PowerBinding::define(env));
  exports.Set("Processes", ProcessesBinding::define(env));
  exports.Set("sinceBootMs", Napi::Function::New(env, sinceBootMsFromJs, "sinceBootMs"));
  exports.Set("tuneListener", Napi::Function::New(env, tuneListenerFromJs, "tuneListener"));
  exports.Set("descriptorLimit", Napi::Function::New(env, descriptorLimitFromJs, "descriptorLimit"));
  exports.Set("openDescriptors", Napi::Function::New(env, openDescriptorsFromJs, "openDescriptors"));
  exports.Set("machineDataFolder", Napi::Function::New(env, machineDataFolderFromJs, "machineDataFolder"));
  exportOutput(env, exports);
  exportPeers(env, exports, completions);
  exportService(env, exports);
  exportStreams(env, exports);
  return exports;
}

}  // namespace
}  // namespace hostwire

static Napi::Object initModule(Napi::Env env, Napi::Object exports) { return hostwire::init(env, exports); }

NODE_API_MODULE(hostwire, initModule)
