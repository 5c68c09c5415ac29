// Functions for connections that JavaScript may call.
#include "napi/peers_binding.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "host/connections.h"
#include "host/limits.h"
#include "host/peers.h"
#include "napi/js.h"

namespace hostwire {

// A number of 64 bits.
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

static Napi::Value js(Napi::Env env, const ConnectionId& connection) {
  static const Shape shape{Key{"descriptor", &ConnectionId::descriptor},
                           Key{"cookie", [](const ConnectionId& of) { return BigInt{of.cookie}; }}};
  return shape.make(env, connection);
}

static Napi::Value js(Napi::Env env, const ClientConnections& client) {
  static const Shape shape{Key{"address", &ClientConnections::address},
                           Key{"connections", &ClientConnections::connections}};
  return shape.make(env, client);
}

static Napi::Value js(Napi::Env env, const UnansweredInput& input) {
  static const Shape shape{Key{"connection", &UnansweredInput::connection},
                           Key{"address", &UnansweredInput::address}, Key{"bytes", &UnansweredInput::bytes}};
  return shape.make(env, input);
}

static Napi::Value js(Napi::Env env, const OpenConnections& found) {
  static const Shape shape{Key{"clients", &OpenConnections::clients},
                           Key{"halfClosed", &OpenConnections::halfClosed},
                           Key{"unanswered", &OpenConnections::unanswered}};
  return shape.make(env, found);
}

namespace {

using SharedCompletions = std::shared_ptr<Completions>;

ConnectionId connectionFromJs(const Napi::Object& object) {
  bool isWhole = true;
  return {object.Get("descriptor").As<Napi::Number>().Int32Value(),
          object.Get("cookie").As<Napi::BigInt>().Uint64Value(&isWhole)};
}

PendingPeer peerFromJs(const Napi::Object& object) {
  PendingPeer peer;
  const ConnectionId connection = connectionFromJs(object);
  peer.descriptor = connection.descriptor;
  peer.cookie = connection.cookie;
  peer.acknowledgedBytes =
      static_cast<std::uint64_t>(object.Get("acknowledgedBytes").As<Napi::Number>().Int64Value());
  return peer;
}

template <class T>
std::vector<T> listFromJs(const Napi::Value& value, T (*read)(const Napi::Object&)) {
  const auto given = value.As<Napi::Array>();
  std::vector<T> list;
  list.reserve(given.Length());
  for (std::uint32_t i = 0; i < given.Length(); ++i) list.push_back(read(given.Get(i).As<Napi::Object>()));
  return list;
}

// canReadPendingPeers(): boolean
Napi::Value canReadPendingPeersFromJs(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), canReadPendingPeers());
}

// readPendingPeers(port: number): Promise<PendingPeer[]>
Napi::Value readPendingPeersFromJs(const Napi::CallbackInfo& info, const SharedCompletions& completions) {
  const auto port = static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value());
  using Peers = std::vector<PendingPeer>;
  return startDetached<Peers>(
      info.Env(), completions, [port] { return readPendingPeers(port); },
      [](Napi::Env env, const Peers& peers) { return js(env, peers); });
}

// cutPeers(peers: PendingPeer[]): number of connections that were cut
Napi::Value cutPeersFromJs(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), cutPeers(listFromJs(info[0], peerFromJs)));
}

// readConnections(port: number, halfClosedMs: number, unansweredBytes: number): Promise<OpenConnections>
Napi::Value readConnectionsFromJs(const Napi::CallbackInfo& info, const SharedCompletions& completions) {
  const ConnectionQuery options{static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value()),
                                info[1].ToNumber().Uint32Value(), info[2].ToNumber().Uint32Value()};
  return startDetached<OpenConnections>(
      info.Env(), completions, [options] { return readConnections(options); },
      [](Napi::Env env, const OpenConnections& found) { return js(env, found); });
}

// cutConnections(connections: ConnectionId[]): number of connections that were cut
Napi::Value cutConnectionsFromJs(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), cutConnections(listFromJs(info[0], connectionFromJs)));
}

// trimHeap(): Promise<undefined>
Napi::Value trimHeapFromJs(const Napi::CallbackInfo& info, const SharedCompletions& completions) {
  return startDetached<bool>(
      info.Env(), completions,
      [] {
        trimHeap();
        return true;
      },
      [](Napi::Env env, bool) { return env.Undefined(); });
}

}  // namespace

void exportPeers(Napi::Env env, Napi::Object exports, const SharedCompletions& completions) {
  const auto add = [&](const char* name, const auto& function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  const auto addWork = [&](const char* name, auto* function) {
    add(name,
        [function, completions](const Napi::CallbackInfo& info) { return function(info, completions); });
  };
  add("canReadPendingPeers", canReadPendingPeersFromJs);
  addWork("readPendingPeers", readPendingPeersFromJs);
  add("cutPeers", cutPeersFromJs);
  addWork("trimHeap", trimHeapFromJs);
  addWork("readConnections", readConnectionsFromJs);
  add("cutConnections", cutConnectionsFromJs);
}

}  // namespace hostwire
