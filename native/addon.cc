// The table of functions that JavaScript may call; src/host/native.ts is its only caller.
#include <napi.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "host/clock.h"
#include "host/folders.h"
#include "host/limits.h"
#include "host/listener.h"
#include "napi/exports.h"

namespace hostwire {
namespace {

std::optional<int> optionOf(const Napi::Object& options, const char* key) {
  const Napi::Value value = options.Get(key);
  if (!value.IsNumber()) return std::nullopt;
  return value.As<Napi::Number>().Int32Value();
}

// tuneListener(port: number, options: ListenerOptions): number of sockets tuned
Napi::Value tuneListenerForJs(const Napi::CallbackInfo& info) {
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
  return js(info.Env(), tuneListener(port, options));
}

// Returns undefined without a value.
template <class Value>
Napi::Value orUndefined(Napi::Env env, const std::optional<Value>& value) {
  return value ? js(env, *value) : env.Undefined();
}

Napi::Object init(Napi::Env env, Napi::Object object) {
  tuneHeap();
  const Exports exports{env, object, Completions::open(env)};
  // sinceBootMs(): number
  exports.add("sinceBootMs", [](const Napi::CallbackInfo& info) {
    return js(info.Env(), static_cast<double>(readClock().sinceBootNs) / 1e6);
  });
  exports.add("tuneListener", tuneListenerForJs);
  // descriptorLimit(): number, Infinity without a limit
  exports.add("descriptorLimit", [](const Napi::CallbackInfo& info) {
    const std::optional<std::uint64_t> limit = descriptorLimit();
    return js(info.Env(), limit ? static_cast<double>(*limit) : std::numeric_limits<double>::infinity());
  });
  // openDescriptors(): number | undefined
  exports.add("openDescriptors",
              [](const Napi::CallbackInfo& info) { return orUndefined(info.Env(), openDescriptors()); });
  // machineDataFolder(): string | undefined
  exports.add("machineDataFolder",
              [](const Napi::CallbackInfo& info) { return orUndefined(info.Env(), machineDataFolder()); });
  exportControls(exports);
  exportDiscovery(exports);
  exportHost(exports);
  exportMedia(exports);
  exportOutput(exports);
  exportPeers(exports);
  exportPolls(exports);
  exportPower(exports);
  exportProcesses(exports);
  exportService(exports);
  exportStreams(exports);
  return object;
}

}  // namespace
}  // namespace hostwire

static Napi::Object initModule(Napi::Env env, Napi::Object exports) { return hostwire::init(env, exports); }

NODE_API_MODULE(hostwire, initModule)
