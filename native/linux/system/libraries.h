// The libraries of the system that the service runs on.
#pragma once

#include "host/library.h"

namespace hostwire {

// The row on the C library. `version`: as gnu_get_libc_version(3) reports it, "2.36"; null where it is not
// the GNU C library.
Finding judgeCLibrary(const char* version);

}  // namespace hostwire
