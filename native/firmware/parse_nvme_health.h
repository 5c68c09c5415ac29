// What an NVMe drive reports about its health (NVM Express Base Specification, log page 02h): pure, never
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "host/drives.h"

namespace hostwire {

inline constexpr std::uint8_t kNvmeHealthLog = 0x02;
inline constexpr std::size_t kNvmeHealthBytes = 512;

// SMART / Health Information. Nothing where the page is cut short or empty, as virtual drives answer it.
std::optional<DriveHealth> parseNvmeHealth(std::span<const std::uint8_t> page);

}  // namespace hostwire
