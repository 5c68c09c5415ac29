// What JavaScript may ask of connections.
#include "napi/peers_binding.h"

#include <cstdint>
#include <vector>

#include "host/peers.h"
#include "napi/promise.h"

namespace hostwire {
namespace {

Napi::Value toJs(Napi::Env env, const std::vector<PendingPeer>& peers) {
  auto array = Napi::Array::New(env, peers.size());
  for (std::uint32_t i = 0; i < peers.size(); ++i) {
    const PendingPeer& peer = peers[i];
    auto object = Napi::Object::New(env);
    object.Set("descriptor", Napi::Number::New(env, peer.descriptor));
    object.Set("cookie", Napi::BigInt::New(env, peer.cookie));
    object.Set("acknowledgedBytes", Napi::Number::New(env, static_cast<double>(peer.acknowledgedBytes)));
    object.Set("silentMs", Napi::Number::New(env, static_cast<double>(peer.silentMs)));
    array.Set(i, object);
  }
  return array;
}

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
  return PromiseWork<std::vector<PendingPeer>>::start(
      info.Env(), [port] { return readPendingPeers(port); }, toJs);
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
