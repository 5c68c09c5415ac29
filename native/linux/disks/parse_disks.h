// Parsers of what Linux tells of block devices: pure, never throw, tolerate anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/disks.h"
#include "linux/disks/parse_mounts.h"

namespace hostwire {

// One line of /proc/diskstats (Documentation/admin-guide/iostats.rst). `name` points into the text.
struct DeviceIo {
  DeviceNumber device;
  std::string_view name;
  DiskIo io;
};
std::vector<DeviceIo> parseDiskstats(std::string_view text);

// The label that a name in /dev/disk/by-label stands for: udev writes bytes it doesn't trust as \x20.
std::string parseLabelLink(std::string_view name);

}  // namespace hostwire
