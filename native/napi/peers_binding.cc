// The functions for connections that JavaScript may call.
#include "napi/peers_binding.h"

#include <cstdint>
#include <vector>

#include "host/peers.h"
#include "napi/js.h"
#include "napi/promise.h"

namespace hostwire {

// All 64 bits count.
struct BigInt {
  std::uint64_t value;
};
static Napi::Value js(Napi::Env env, BigInt number) { return Napi::BigInt::New(env, number.value); }

static Napi::Value js(Napi::Env env, const PendingPeer& peer) {
  static const Shape shape{Key{"descriptor", &PendingPeer::descriptor},
                           Key{"cookie", [](const PendingPeer& of) { return BigInt{of.cookie}; }},
                           Key{"acknowledgedBytes", &PendingPeer::acknowledgedBytes},
                           Key{"silentMs", &PendingPeer::silentMs}};
  return shape.make(env, peer);
}

namespace {

PendingPeer fromJs(const Napi::Object& object) {
  PendingPeer peer;
  bool isWhole = true;
  peer.descriptor = object.Get("descriptor").As<Napi::Number>().Int32Value();
  peer.cookie = object.Get("cookie").As<Napi::BigInt>().Uint64Value(&isWhole);
  peer.acknowledgedBytes =
      static_cast<std::uint64_t>(object.Get("acknowledgedBytes").As<Napi::Number>().Int64Value());
  return peer;
}

// canReadPendingPeers(): boolean
Napi::Value canReadPendingPeersFromJs(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), canReadPendingPeers());
}

// readPendingPeers(port: number): Promise<PendingPeer[]>
Napi::Value readPendingPeersFromJs(const Napi::CallbackInfo& info) {
  const auto port = static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value());
  using Peers = std::vector<PendingPeer>;
  return PromiseWork<Peers>::start(
      info.Env(), [port] { return readPendingPeers(port); },
      [](Napi::Env env, const Peers& peers) { return js(env, peers); });
}

// cutPeers(peers: PendingPeer[]): number of connections that were cut
Napi::Value cutPeersFromJs(const Napi::CallbackInfo& info) {
  const auto given = info[0].As<Napi::Array>();
  std::vector<PendingPeer> peers;
  peers.reserve(given.Length());
  for (std::uint32_t i = 0; i < given.Length(); ++i) peers.push_back(fromJs(given.Get(i).As<Napi::Object>()));
  return Napi::Number::New(info.Env(), cutPeers(peers));
}

}  // namespace

void exportPeers(Napi::Env env, Napi::Object exports) {
  exports.Set("canReadPendingPeers",
              Napi::Function::New(env, canReadPendingPeersFromJs, "canReadPendingPeers"));
  exports.Set("readPendingPeers", Napi::Function::New(env, readPendingPeersFromJs, "readPendingPeers"));
  exports.Set("cutPeers", Napi::Function::New(env, cutPeersFromJs, "cutPeers"));
}

}  // namespace hostwire
