// Functions for connections.
#include <cstdint>
#include <memory>
#include <vector>

#include "host/connections.h"
#include "host/limits.h"
#include "host/peers.h"
#include "napi/exports.h"
#include "napi/from_js.h"
#include "napi/js.h"

namespace hostwire {

// A number of 64 bits.
struct BigInt {
  std::uint64_t value;
};
static Napi::Value js(Napi::Env env, BigInt number) { return Napi::BigInt::New(env, number.value); }
static BigInt bigInt(std::uint64_t number) { return {number}; }

HOSTWIRE_JS(PendingPeer, KEY(descriptor), key<Self, &Self::cookie, bigInt>("cookie"), KEY(acknowledgedBytes),
            KEY(silentMs))

HOSTWIRE_JS(ConnectionId, KEY(descriptor), key<Self, &Self::cookie, bigInt>("cookie"))

HOSTWIRE_JS(ClientConnections, KEY(address), KEY(connections))

HOSTWIRE_JS(UnansweredInput, KEY(connection), KEY(address), KEY(bytes))

HOSTWIRE_JS(OpenConnections, KEY(clients), KEY(halfClosed), KEY(unanswered))

namespace {

ConnectionId connectionOf(const Napi::Value& value) {
  const auto object = value.As<Napi::Object>();
  bool isWhole = true;
  return {object.Get("descriptor").As<Napi::Number>().Int32Value(),
          object.Get("cookie").As<Napi::BigInt>().Uint64Value(&isWhole)};
}

PendingPeer peerOf(const Napi::Value& value) {
  PendingPeer peer;
  const ConnectionId connection = connectionOf(value);
  peer.descriptor = connection.descriptor;
  peer.cookie = connection.cookie;
  peer.acknowledgedBytes = static_cast<std::uint64_t>(
      value.As<Napi::Object>().Get("acknowledgedBytes").As<Napi::Number>().Int64Value());
  return peer;
}

std::uint16_t portOf(const Napi::Value& value) {
  return static_cast<std::uint16_t>(value.ToNumber().Uint32Value());
}

// readPendingPeers(port: number): Promise<PendingPeer[]>
Napi::Value readPendingPeersForJs(const Napi::CallbackInfo& info) {
  return startDetached(info.Env(), Exports::completionsOf(info),
                       [port = portOf(info[0])] { return readPendingPeers(port); });
}

// readConnections(port: number, halfClosedMs: number, unansweredBytes: number): Promise<OpenConnections>
Napi::Value readConnectionsForJs(const Napi::CallbackInfo& info) {
  const ConnectionQuery query{portOf(info[0]), info[1].ToNumber().Uint32Value(),
                              info[2].ToNumber().Uint32Value()};
  return startDetached(info.Env(), Exports::completionsOf(info), [query] { return readConnections(query); });
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

// Also adds canReadPendingPeers(): boolean; cutPeers(peers: PendingPeer[]) and cutConnections(connections:
// ConnectionId[]), which return the number of connections that were cut.
void exportPeers(const Exports& exports) {
  exports.add("canReadPendingPeers",
              [](const Napi::CallbackInfo& info) { return js(info.Env(), canReadPendingPeers()); });
  exports.add("readPendingPeers", readPendingPeersForJs);
  exports.add("cutPeers", [](const Napi::CallbackInfo& info) {
    return js(info.Env(), cutPeers(listOf(info[0], peerOf)));
  });
  exports.add("trimHeap", trimHeapForJs);
  exports.add("readConnections", readConnectionsForJs);
  exports.add("cutConnections", [](const Napi::CallbackInfo& info) {
    return js(info.Env(), cutConnections(listOf(info[0], connectionOf)));
  });
}

}  // namespace hostwire
