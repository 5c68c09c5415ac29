// Converts the power manager's answers to JavaScript objects; the keys mirror src/host/power.ts.
#pragma once

#include <napi.h>

#include "host/power.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const PowerSupport& support);
Napi::Value js(Napi::Env env, const PowerInhibitor& inhibitor);

}  // namespace hostwire
