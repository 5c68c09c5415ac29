// Facts of /sys and /dev about the devices under the mounts. For a prober: it opens files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/disks/parse_mounts.h"

namespace hostwire {

struct DiskDevice {
  std::string path;                    // to be shown; raw bytes; empty: use mountinfo's
  std::optional<DeviceNumber> number;  // the block device, also for a filesystem with an anonymous number
  std::vector<DeviceNumber> parts;     // all devices of a filesystem on several, otherwise empty
  std::optional<std::string> label;    // raw bytes
  std::optional<bool> isRemovable;
};

// A device as mountinfo describes it.
struct DeviceQuestion {
  DeviceNumber number;
  std::string source;
};

// One answer per question, in the same order. Shared, because each reading copies a prober's answer.
using DiskDevices = std::shared_ptr<const std::vector<DiskDevice>>;
DiskDevices readDiskDevices(const Roots& roots, const std::vector<DeviceQuestion>& questions);

}  // namespace hostwire
