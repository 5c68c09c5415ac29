// The rows of `hostwire doctor` as JavaScript objects; the keys mirror src/host/finding.ts.
#pragma once

#include <napi.h>

#include "host/finding.h"
#include "napi/js.h"

namespace hostwire {

static inline Napi::Value js(Napi::Env env, Finding::Status status) {
  return named(env, status, {"works", "partly", "missing"});
}

HOSTWIRE_JS(Finding, KEY(subject), KEY(status), KEY(source),
            key<Self, &Self::obstacle, &Obstacle::reason, orNull>("reason"),
            key<Self, &Self::obstacle, &Obstacle::remedy, orNull>("remedy"))

}  // namespace hostwire
