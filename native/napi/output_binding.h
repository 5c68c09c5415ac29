// Standard streams and signals of the service, for JavaScript.
#pragma once

#include <napi.h>

namespace hostwire {

void exportOutput(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
