// Not read on Windows yet.
#include "host/process.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

ProcessId launchProcess(const LaunchOptions&) { throw HostError(ENOTSUP, "launch a process"); }

}  // namespace hostwire
