// Parses the health report of an NVMe drive (NVM Express Base Specification, log page 02h): pure, never
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "host/drives.h"

namespace hostwire {

inline constexpr std::uint8_t kNvmeHealthLog = 0x02;
inline constexpr std::size_t kNvmeHealthBytes = 512;

// Parses SMART / Health Information. Nothing if the page is cut short or empty, as virtual drives answer it.
std::optional<DriveHealth> parseNvmeHealth(std::span<const std::uint8_t> page);

}  // namespace hostwire
