// Parses the answers of Windows' storage drivers to IOCTL_STORAGE_QUERY_PROPERTY (winioctl.h): pure, never
// throws. The layouts are declared here, so that they are tested on every platform.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "host/drives.h"

namespace hostwire::windows {

struct StorageDevice {
  std::string model;
  DriveKind kind = DriveKind::kOther;
  bool isVirtual = false;
};

// STORAGE_DEVICE_DESCRIPTOR.
std::optional<StorageDevice> parseStorageDevice(std::span<const std::uint8_t> descriptor);

// STORAGE_PROPERTY_QUERY with STORAGE_PROTOCOL_SPECIFIC_DATA: asks for a log page.
struct LogPageQuery {
  std::uint32_t property = 50;  // StorageDeviceProtocolSpecificProperty
  std::uint32_t queryType = 0;
  std::uint32_t protocol = 3;  // ProtocolTypeNvme
  std::uint32_t dataType = 2;  // NVMeDataTypeLogPage
  std::uint32_t page = 0;
  std::uint32_t subValue = 0;
  std::uint32_t dataOffset = 40;  // from `protocol` on
  std::uint32_t dataLength = 0;
  std::uint32_t fixedReturn = 0;
  std::uint32_t subValues[3] = {};
};
static_assert(sizeof(LogPageQuery) == 48);

// Returns the page in the answer, STORAGE_PROTOCOL_DATA_DESCRIPTOR; empty if it has none.
std::span<const std::uint8_t> findLogPage(std::span<const std::uint8_t> answer);

}  // namespace hostwire::windows
