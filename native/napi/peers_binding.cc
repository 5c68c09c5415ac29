// Functions for connections.
#include <cstdint>

#include "host/connections.h"
#include "host/limits.h"
#include "napi/exports.h"
#include "napi/js.h"

namespace hostwire {

HOSTWIRE_JS(ClientConnections, KEY(address), KEY(connections))

namespace {

// readConnections(port: number): Promise<ClientConnections[]>
Napi::Value readConnectionsForJs(const Napi::CallbackInfo& info) {
  const auto port = static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value());
  return startDetached(info.Env(), Exports::completionsOf(info), [port] { return readConnections(port); });
}

// trimHeap(): Promise<undefined>
Napi::Value trimHeapForJs(const Napi::CallbackInfo& info) {
  const auto work = [] {
    trimHeap();
    return true;
  };
  return startDetached(info.Env(), Exports::completionsOf(info), work,
                       [](Napi::Env env, bool) { return env.Undefined(); });
}

}  // namespace

void exportPeers(const Exports& exports) {
  exports.add("trimHeap", trimHeapForJs);
  exports.add("readConnections", readConnectionsForJs);
}

}  // namespace hostwire
