// Parsers of Linux's texts about block devices: pure, never throw, accept anything.
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

// Returns the label for a name in /dev/disk/by-label: udev writes bytes it does not trust as \x20.
std::string parseLabelLink(std::string_view name);

}  // namespace hostwire
