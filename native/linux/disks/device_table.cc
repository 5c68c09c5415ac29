// Which lines of /proc/diskstats count for a filesystem.
#include "linux/disks/device_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hostwire {

DeviceTable::DeviceTable(std::vector<DeviceIo> devices) : devices_(std::move(devices)) {
  std::sort(devices_.begin(), devices_.end(),
            [](const DeviceIo& a, const DeviceIo& b) { return a.device < b.device; });
}

std::optional<CountedDevices> DeviceTable::find(const std::vector<DeviceNumber>& numbers) const {
  std::vector<const DeviceIo*> found;
  for (const DeviceNumber& number : numbers) {
    const auto at =
        std::lower_bound(devices_.begin(), devices_.end(), number,
                         [](const DeviceIo& one, const DeviceNumber& wanted) { return one.device < wanted; });
    if (at != devices_.end() && at->device == number) found.push_back(&*at);
  }
  return sumOf(found);
}

std::optional<CountedDevices> DeviceTable::find(std::string_view name) const {
  const auto at =
      std::find_if(devices_.begin(), devices_.end(), [&](const DeviceIo& one) { return one.name == name; });
  if (at == devices_.end()) return std::nullopt;
  return sumOf({&*at});
}

std::optional<CountedDevices> DeviceTable::sumOf(const std::vector<const DeviceIo*>& devices) const {
  if (devices.empty()) return std::nullopt;
  CountedDevices sum;
  for (const DeviceIo* device : devices) {
    sum.io.readBytes += device->io.readBytes;
    sum.io.writeBytes += device->io.writeBytes;
    sum.io.busyMs += device->io.busyMs;
    if (!sum.names.empty()) sum.names += ' ';
    sum.names += device->name;
  }
  sum.io.busyMs /= devices.size();
  return sum;
}

}  // namespace hostwire
