// The libraries of the system that the service needs.
#pragma once

#include "host/library.h"

namespace hostwire {

// Returns the row about the C library. `version`: as gnu_get_libc_version(3) reports it, "2.36"; null if it
// is not the GNU C library.
Finding judgeCLibrary(const char* version);

}  // namespace hostwire
