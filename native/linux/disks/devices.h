// What /sys and /dev say of the devices under the mounts. For a prober: it opens files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/disks/parse_mounts.h"

namespace hostwire {

struct DiskDevice {
  std::string path;                    // what to show; raw bytes; empty: what mountinfo says
  std::optional<DeviceNumber> number;  // the block device, also of a filesystem with an anonymous number
  std::vector<DeviceNumber> parts;     // all devices of a btrfs on several, else empty
  std::optional<std::string> label;    // raw bytes
  std::optional<bool> isRemovable;
};

// Which device: what mountinfo tells of it.
struct DeviceQuestion {
  DeviceNumber number;
  std::string source;
};

// One answer a question, in their order. Shared, as each reading of a prober's answer copies it.
using DiskDevices = std::shared_ptr<const std::vector<DiskDevice>>;
DiskDevices readDiskDevices(const Roots& roots, const std::vector<DeviceQuestion>& questions);

}  // namespace hostwire
