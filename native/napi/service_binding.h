// What JavaScript may ask of the system's manager of services: the table's part for host/service.h.
#pragma once

#include <napi.h>

namespace hostwire {

void exportService(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
