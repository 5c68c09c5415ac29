// Decides which lines of /proc/diskstats count for a filesystem.
#include "linux/disks/device_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hostwire {
namespace {

bool isAtZero(const DiskIo& io) { return io.readBytes == 0 && io.writeBytes == 0 && io.busyMs == 0; }

void add(CountedDevices& sum, const CountedDevices& more) {
  sum.io.readBytes += more.io.readBytes;
  sum.io.writeBytes += more.io.writeBytes;
  sum.io.busyMs += more.io.busyMs;
  if (!sum.names.empty()) sum.names += ' ';
  sum.names += more.names;
}

// Parts of nvme0n1, nvme0n1p2; a name with a controller, nvme0c1n1, is a path to the namespace.
struct NvmeName {
  std::string_view subsystem, controller, space, partition;
};

std::string_view takeDigitsAfter(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<NvmeName> parseNvmeName(std::string_view text) {
  NvmeName name;
  name.subsystem = takeDigitsAfter(text, "nvme");
  name.controller = takeDigitsAfter(text, "c");
  name.space = takeDigitsAfter(text, "n");
  name.partition = takeDigitsAfter(text, "p");
  if (!text.empty() || name.subsystem.empty() || name.space.empty()) return std::nullopt;
  return name;
}

}  // namespace

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

const DeviceIo* DeviceTable::findNamed(std::string_view name) const {
  const auto at =
      std::find_if(devices_.begin(), devices_.end(), [&](const DeviceIo& one) { return one.name == name; });
  return at == devices_.end() ? nullptr : &*at;
}

std::optional<CountedDevices> DeviceTable::find(std::string_view name) const {
  const DeviceIo* found = findNamed(name);
  if (found == nullptr) return std::nullopt;
  return countersOf(*found);
}

// A namespace that may have several paths (CONFIG_NVME_MULTIPATH) is a disk of its own, the head: nvme0n1.
// Before Linux 6.3 only its paths count, which are hidden disks without partitions: nvme0c0n1, nvme0c1n1.
// From then on the head counts too (commit d4d957b53d91), so only a head that has counted nothing is looked
// up.
std::optional<CountedDevices> DeviceTable::countersOf(const DeviceIo& device) const {
  const CountedDevices own{device.io, std::string(device.name)};
  const auto name = isAtZero(device.io) ? parseNvmeName(device.name) : std::nullopt;
  if (!name) return own;
  CountedDevices paths;
  for (const DeviceIo& other : devices_) {
    const auto path = parseNvmeName(other.name);
    if (path && !path->controller.empty() && path->subsystem == name->subsystem && path->space == name->space)
      add(paths, {other.io, std::string(other.name)});
  }
  if (isAtZero(paths.io)) return own;
  if (name->partition.empty()) return paths;
  // The paths do not count single partitions.
  const DeviceIo* head = findNamed(device.name.substr(0, device.name.rfind('p')));
  return head != nullptr && !isAtZero(head->io) ? std::optional(own) : std::nullopt;
}

std::optional<CountedDevices> DeviceTable::sumOf(const std::vector<const DeviceIo*>& devices) const {
  if (devices.empty()) return std::nullopt;
  CountedDevices sum;
  for (const DeviceIo* device : devices) {
    const auto counted = countersOf(*device);
    if (!counted) return std::nullopt;
    add(sum, *counted);
  }
  sum.io.busyMs /= devices.size();
  return sum;
}

}  // namespace hostwire
