// Offsets into the same buffer, which may point anywhere.
#include "windows/drives/parse_storage.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hostwire::windows {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::uint32_t numberAt(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at]) | static_cast<std::uint32_t>(bytes[at + 1]) << 8U |
         static_cast<std::uint32_t>(bytes[at + 2]) << 16U | static_cast<std::uint32_t>(bytes[at + 3]) << 24U;
}

// Ends with a zero; vendors pad it with blanks. Offset 0: the text is absent.
std::string textAt(Bytes bytes, std::uint32_t offset) {
  std::string text;
  if (offset == 0) return text;
  for (std::size_t at = offset; at < bytes.size() && bytes[at] != 0; ++at) {
    const bool isShown = bytes[at] > 0x20 && bytes[at] < 0x7F;
    if (isShown) {
      text += static_cast<char>(bytes[at]);
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

// STORAGE_BUS_TYPE
DriveKind kindOf(std::uint32_t bus) {
  switch (bus) {
    case 0x11: return DriveKind::kNvme;
    case 0x03:
    case 0x0B: return DriveKind::kAta;  // parallel, serial
    case 0x01:
    case 0x0A: return DriveKind::kScsi;  // parallel, SAS
    default: return DriveKind::kOther;
  }
}

// BusTypeVirtual, BusTypeFileBackedVirtual, BusTypeSpaces
bool isVirtualBus(std::uint32_t bus) { return bus == 0x0E || bus == 0x0F || bus == 0x10; }

}  // namespace

std::optional<StorageDevice> parseStorageDevice(Bytes descriptor) {
  constexpr std::size_t kVendor = 12;
  constexpr std::size_t kProduct = 16;
  constexpr std::size_t kBus = 28;
  if (descriptor.size() < kBus + 4) return std::nullopt;
  StorageDevice device;
  const std::uint32_t bus = numberAt(descriptor, kBus);
  device.kind = kindOf(bus);
  device.isVirtual = isVirtualBus(bus);
  const std::string vendor = textAt(descriptor, numberAt(descriptor, kVendor));
  device.model = textAt(descriptor, numberAt(descriptor, kProduct));
  // For these two the vendor is the name of the bus.
  const bool hasVendor = device.kind != DriveKind::kNvme && device.kind != DriveKind::kAta && !vendor.empty();
  if (hasVendor) device.model = device.model.empty() ? vendor : vendor + " " + device.model;
  return device;
}

Bytes findLogPage(Bytes answer) {
  constexpr std::size_t kProtocolData = 8;
  constexpr std::size_t kOffset = kProtocolData + 16;
  constexpr std::size_t kLength = kProtocolData + 20;
  if (answer.size() < kLength + 4) return {};
  const std::size_t begin = kProtocolData + std::size_t{numberAt(answer, kOffset)};
  const std::size_t length = numberAt(answer, kLength);
  if (begin > answer.size() || length > answer.size() - begin) return {};
  return answer.subspan(begin, length);
}

}  // namespace hostwire::windows
