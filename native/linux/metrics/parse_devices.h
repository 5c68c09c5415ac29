// The counters of block devices as families of metrics. Pure: never throws, whatever is in the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// Returns udev's text about the block device with these numbers (/run/udev/data/bMAJOR:MINOR); empty if it
// has none.
using UdevText = std::function<std::string(std::uint64_t major, std::uint64_t minor)>;

// Writes /proc/diskstats (Documentation/admin-guide/iostats.rst), for whole devices; partitions, RAM disks
// and loop devices are left out. The labels of serial numbers stay empty: not every reader of loads may see
// them.
void writeBlockDevices(std::string_view text, const UdevText& udev, Exposition& out);

}  // namespace hostwire
