// Functions for Windows' service control manager that JavaScript may call: the table's part for
// host/windows_service.h.
#pragma once

#include <napi.h>

namespace hostwire {

void exportService(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
