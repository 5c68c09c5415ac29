// The rows of `hostwire doctor` as JavaScript objects; the keys mirror src/host/finding.ts.
#pragma once

#include <napi.h>

#include "host/finding.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const Finding& finding);

}  // namespace hostwire
