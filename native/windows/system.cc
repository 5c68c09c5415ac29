// Not read on Windows yet.
#include "host/system.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

SystemInfo readSystem(const Roots&) { throw HostError(ENOTSUP, "read system"); }

}  // namespace hostwire
