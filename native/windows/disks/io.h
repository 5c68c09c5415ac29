// Bytes that a volume's device has read and written since it appeared.
#pragma once

#include <optional>
#include <string>

#include "host/disks.h"

namespace hostwire {

// `device`: "\\?\Volume{…}". Nothing if the driver does not count. Needs no administrator.
std::optional<DiskIo> readVolumeIo(const std::wstring& device);

}  // namespace hostwire
