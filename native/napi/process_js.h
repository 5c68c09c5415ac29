// Converts processes for JavaScript: columns for a whole reading, objects for one process. They mirror
// src/host/processes.ts.
#pragma once

#include <napi.h>

#include "host/process.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const ProcessReading& reading);
Napi::Value js(Napi::Env env, const ProcessDetails& details);
Napi::Value js(Napi::Env env, SignalOutcome outcome);

}  // namespace hostwire
