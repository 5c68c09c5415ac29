// Processes as JavaScript has them: columns for a whole reading, objects for one. They mirror
// src/host/processes.ts.
#pragma once

#include <napi.h>

#include <optional>
#include <string>
#include <vector>

#include "host/process.h"

namespace hostwire {

Napi::Value toJs(Napi::Env env, const ProcessReading& reading);
Napi::Value toJs(Napi::Env env, const std::optional<ProcessDetails>& details);
Napi::Value toJs(Napi::Env env, const std::vector<std::optional<std::string>>& texts);
Napi::Value toJs(Napi::Env env, const ProcessId& process);
Napi::Value toJs(Napi::Env env, SignalOutcome outcome);
Napi::Value toJs(Napi::Env env, const std::vector<bool>& values);

}  // namespace hostwire
