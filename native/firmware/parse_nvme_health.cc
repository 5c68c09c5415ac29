// Log page 02h: 512 bytes, little endian, counters of 128 bits.
#include "firmware/parse_nvme_health.h"

#include <algorithm>
#include <cstddef>

namespace hostwire {
namespace {

constexpr std::size_t kCriticalWarning = 0;
constexpr std::size_t kTemperature = 1;  // of the composite sensor, in kelvin
constexpr std::size_t kPercentageUsed = 5;
constexpr std::size_t kPowerOnHours = 128;
constexpr std::size_t kMediaErrors = 160;

constexpr unsigned kZeroCelsius = 273;
constexpr unsigned kMinKelvin = kZeroCelsius - 50;
constexpr unsigned kMaxKelvin = kZeroCelsius + 150;

// Nothing if the upper half is used: no drive has reached that.
std::optional<std::uint64_t> counterAt(std::span<const std::uint8_t> page, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t byte = 16; byte-- > 0;) {
    if (byte >= 8 && page[at + byte] != 0) return std::nullopt;
    value = value << 8U | page[at + byte];
  }
  return value;
}

}  // namespace

std::optional<DriveHealth> parseNvmeHealth(std::span<const std::uint8_t> page) {
  if (page.size() < kNvmeHealthBytes) return std::nullopt;
  page = page.first(kNvmeHealthBytes);
  if (std::all_of(page.begin(), page.end(), [](std::uint8_t byte) { return byte == 0; })) return std::nullopt;
  DriveHealth health;
  // Any bit: spare blocks run out, too hot or too cold, unreliable, read-only, or its backup power failed.
  health.isPassing = page[kCriticalWarning] == 0;
  health.percentageUsed = page[kPercentageUsed];
  const unsigned kelvin = page[kTemperature] | static_cast<unsigned>(page[kTemperature + 1]) << 8U;
  if (kelvin > kMinKelvin && kelvin <= kMaxKelvin)
    health.temperatureCelsius = static_cast<double>(kelvin) - kZeroCelsius;
  health.powerOnHours = counterAt(page, kPowerOnHours);
  health.mediaErrors = counterAt(page, kMediaErrors);
  return health;
}

}  // namespace hostwire
