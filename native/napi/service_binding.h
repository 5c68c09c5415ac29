// What JavaScript may ask of Windows' service control manager: the table's part for host/windows_service.h.
#pragma once

#include <napi.h>

namespace hostwire {

void exportService(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
