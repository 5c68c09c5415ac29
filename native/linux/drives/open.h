// Opens a drive's device, or reports why that is refused.
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

// `capability`: required by the following command. Throws HostError if the reason is not a lack of rights.
OpenedDrive openDrive(const FoundDrive& drive, std::string_view capability);

// Returns whether the kernel has suspended the device; opening it would resume it
// (Documentation/power/runtime_pm.rst).
bool isSuspended(const FoundDrive& drive);

}  // namespace hostwire
