// The counters of block devices as families of metrics. Pure: never throws for what is in the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// What udev keeps of the block device with these numbers (/run/udev/data/bMAJOR:MINOR); empty where it has
// nothing.
using UdevText = std::function<std::string(std::uint64_t major, std::uint64_t minor)>;

// /proc/diskstats (Documentation/admin-guide/iostats.rst), of whole devices; partitions, RAM disks and loop
// devices are left out. The labels of serial numbers stay empty: they are not for everybody who may read
// loads.
void writeBlockDevices(std::string_view text, const UdevText& udev, Exposition& out);

}  // namespace hostwire
