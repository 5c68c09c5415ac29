// The functions for connections that JavaScript may call: the table's part for host/peers.h.
#pragma once

#include <napi.h>

namespace hostwire {

void exportPeers(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
