// Converts players and replies to JavaScript objects; the keys mirror src/host/media.ts.
#pragma once

#include <napi.h>

#include "host/media.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const MediaSnapshot& snapshot);
Napi::Value js(Napi::Env env, const MediaReply& reply);

}  // namespace hostwire
