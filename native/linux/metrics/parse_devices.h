// The counters of block devices as families of metrics. Pure: never throws for what is in the text.
#pragma once

#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// /proc/diskstats (Documentation/admin-guide/iostats.rst), of whole devices; partitions, RAM disks and loop
// devices are left out.
void writeBlockDevices(std::string_view text, Exposition& out);

}  // namespace hostwire
