// Opening a drive's device, and why that, or a command to it, is refused.
#pragma once

#include <string>
#include <string_view>

#include "host/drive_probe.h"
#include "linux/kernel/file.h"

namespace hostwire {

struct OpenedDrive {
  FileDescriptor fd;
  std::string failure;  // why it is not open
};

// `capability`: what the command that follows takes. Throws HostError where the reason is not a lack of
// rights.
OpenedDrive openDrive(const FoundDrive& drive, std::string_view capability);

// Whether the kernel has switched the device off; opening it would switch it on
// (Documentation/power/runtime_pm.rst).
bool isSuspended(const FoundDrive& drive);

}  // namespace hostwire
