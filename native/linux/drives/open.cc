// open(2) of block devices for commands, not for data.
#include "linux/drives/open.h"

#include <fcntl.h>

#include <cerrno>

#include "host/error.h"

namespace hostwire {

OpenedDrive openDrive(const FoundDrive& drive, std::string_view capability) {
  // O_NONBLOCK: do not check for a medium.
  OpenedDrive opened{FileDescriptor(open(drive.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), {}};
  if (opened.fd.isOpen()) return opened;
  const int code = errno;
  const std::string shown = "/dev/" + drive.name;
  // EPERM: the control group of the service or container does not include the device.
  if (code == EACCES || code == EPERM) {
    opened.failure = "needs access to " + shown + " and " + std::string(capability);
  } else if (code == ENOENT || code == ENXIO || code == ENODEV) {
    opened.failure = "there is no " + shown + " here";
  } else {
    throw HostError(code, "open " + shown);
  }
  return opened;
}

// A SCSI device has its own power state; an NVMe controller has that of the PCI device below.
bool isSuspended(const FoundDrive& drive) {
  for (const char* file : {"/device/power/runtime_status", "/device/device/power/runtime_status"})
    if (readSmallFile(drive.folder + file).starts_with("suspend")) return true;
  return false;
}

}  // namespace hostwire
