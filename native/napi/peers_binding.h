// Functions for connections that JavaScript may call: the table's part for host/peers.h.
#pragma once

#include <napi.h>

#include <memory>

#include "napi/detached_work.h"

namespace hostwire {

void exportPeers(Napi::Env env, Napi::Object exports, const std::shared_ptr<Completions>& completions);

}  // namespace hostwire
