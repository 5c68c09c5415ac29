// Looks up names in the lists that distributions ship.
#include "linux/gpu/names.h"

#include <array>
#include <cstdio>
#include <utility>

#include "linux/gpu/parse_gpu.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

// Debian and its derivatives, then Fedora, Arch and theirs.
constexpr std::array<const char*, 2> kPciLists{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
constexpr const char* kAmdgpuList = "/usr/share/libdrm/amdgpu.ids";

}  // namespace

GpuName lookUpGpuName(const Roots& roots, const GpuDevice& device) {
  if (!device.isOnPci) return {std::string(nameOf(device.vendor)) + " " + toValidUtf8(device.model)};
  std::string name;
  bool isFinal = true;
  const auto readList = [&](const char* list) {
    auto text = tryReadSmallFile(roots.files + list);
    isFinal = isFinal && text.has_value();
    return std::move(text).value_or(std::string());
  };
  if (device.vendor == GpuVendor::kAmd)
    name = findAmdgpuName(readList(kAmdgpuList), device.deviceId, device.revision);
  for (const char* list : kPciLists)
    if (name.empty()) name = findPciName(readList(list), device.vendorId, device.deviceId);
  if (!name.empty()) return {toValidUtf8(name), isFinal};
  std::array<char, 16> numbers{};
  static_cast<void>(std::snprintf(numbers.data(), numbers.size(), "%04x:%04x", device.vendorId & 0xFFFFU,
                                  device.deviceId & 0xFFFFU));
  return {std::string(nameOf(device.vendor)) + " " + numbers.data(), isFinal};
}

}  // namespace hostwire
