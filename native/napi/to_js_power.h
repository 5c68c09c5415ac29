// What the power manager answers, as JavaScript objects. They mirror src/host/controls.ts.
#pragma once

#include <napi.h>

#include <vector>

#include "host/power.h"

namespace hostwire {

Napi::Value toJs(Napi::Env env, const PowerSupport& support);
Napi::Value toJs(Napi::Env env, const std::vector<PowerInhibitor>& inhibitors);
Napi::Value toJs(Napi::Env env, const PowerAuthority& authority);

}  // namespace hostwire
