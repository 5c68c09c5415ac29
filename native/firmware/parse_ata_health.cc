// Words and counters are little endian throughout.
#include "firmware/parse_ata_health.h"

#include <algorithm>
#include <array>

namespace hostwire {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Returns the number of `width` bytes, at most 8.
std::uint64_t numberAt(Bytes bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t byte = width; byte-- > 0;) value = value << 8U | bytes[at + byte];
  return value;
}

std::uint16_t wordAt(Bytes sector, std::size_t word) {
  return static_cast<std::uint16_t>(numberAt(sector, word * 2, 2));
}

// Drives without a sensor report 0.
std::optional<double> plausibleDegrees(std::uint64_t byte) {
  const auto degrees = static_cast<std::int8_t>(byte);
  if (degrees == 0 || degrees <= -50) return std::nullopt;
  return degrees;
}

// Drives until about 2010, and a family of industrial ones, that count minutes, half minutes or seconds in
// attribute 9, tenths of a degree in 194, or use other units (smartmontools' drive database).
constexpr std::array<std::string_view, 10> kOtherUnits{
    "FUJITSU ",    "Maxtor ",    "SAMSUNG SP", "SAMSUNG SV", "SAMSUNG HM",
    "SAMSUNG MP0", "HITACHI_DK", "TOSHIBA MK", "SMART ",     "Adtron "};

struct Attribute {
  std::uint8_t id = 0;
  std::uint64_t raw = 0;  // 48 bits
};

void takeAttribute(DriveHealth& health, const Attribute& attribute) {
  switch (attribute.id) {
    case 9: health.powerOnHours = attribute.raw & 0xFFFFFFU; break;  // some pack milliseconds above
    case 187:
      // The bits above 32 are vendor-specific where they are used.
      if (attribute.raw >> 32U == 0) health.mediaErrors = attribute.raw;
      break;
    case 190:
      if (!health.temperatureCelsius) health.temperatureCelsius = plausibleDegrees(attribute.raw & 0xFFU);
      break;
    // The kernel's drivetemp prefers this to 190; the bytes above are the lowest and the highest.
    case 194:
      if (const auto degrees = plausibleDegrees(attribute.raw & 0xFFU)) health.temperatureCelsius = degrees;
      break;
    default: break;
  }
}

// Returns one value of the Device Statistics log: 8 bytes, of which the last holds flags.
std::optional<std::uint64_t> statisticAt(Bytes page, std::size_t at, std::size_t width) {
  constexpr std::uint8_t kSupported = 0x80;
  constexpr std::uint8_t kValid = 0x40;
  const std::uint8_t flags = page[at + 7];
  if ((flags & kSupported) == 0 || (flags & kValid) == 0) return std::nullopt;
  return numberAt(page, at, width);
}

// Returns a page, which begins with its revision and number; empty if it is absent.
Bytes statisticsPage(Bytes pages, std::size_t number) {
  if (pages.size() < (number + 1) * kAtaSectorBytes) return {};
  const Bytes page = pages.subspan(number * kAtaSectorBytes, kAtaSectorBytes);
  return wordAt(page, 0) != 0 && page[2] == number ? page : Bytes{};
}

}  // namespace

std::optional<AtaRegisters> parseAtaSense(Bytes sense) {
  if (sense.size() < 22) return std::nullopt;
  const unsigned format = sense[0] & 0x7FU;
  // SPC-5, 4.4.2: descriptors begin at byte 8; that of ATA (09h) has 14 bytes.
  if (format == 0x72) {
    const std::size_t end = std::min<std::size_t>(sense.size(), 8U + sense[7]);
    for (std::size_t at = 8; at + 14 <= end; at += 2U + sense[at + 1])
      if (sense[at] == 0x09 && sense[at + 1] == 0x0C)
        return AtaRegisters{sense[at + 3], sense[at + 13], sense[at + 5], sense[at + 9], sense[at + 11]};
    return std::nullopt;
  }
  // SAT-4, 12.2.2.6: the information field holds error, status, device and count; the command's has the LBA.
  // ASC 00h, ASCQ 1Dh: "ATA pass-through information available".
  if (format == 0x70 && sense[12] == 0x00 && sense[13] == 0x1D)
    return AtaRegisters{sense[3], sense[4], sense[6], sense[10], sense[11]};
  return std::nullopt;
}

// 00h: standby; 01h: standby by its own timer; 40h: the motor is off and the cache answers.
bool isAtaStandby(const AtaRegisters& answer) {
  return !answer.hasFailed() && (answer.count <= 0x01 || answer.count == 0x40);
}

std::optional<bool> parseSmartStatus(const AtaRegisters& answer) {
  if (answer.hasFailed()) return std::nullopt;
  if (answer.lbaMid == 0x4F && answer.lbaHigh == 0xC2) return true;
  if (answer.lbaMid == 0xF4 && answer.lbaHigh == 0x2C) return false;
  return std::nullopt;
}

std::optional<AtaIdentity> parseAtaIdentity(Bytes identity) {
  if (identity.size() < kAtaSectorBytes) return std::nullopt;
  // Words 83, 84 and 87 are valid only if their bits 15:14 are 01b.
  const auto isDefined = [&](std::size_t word) { return (wordAt(identity, word) & 0xC000U) == 0x4000U; };
  AtaIdentity found;
  found.hasSmart = isDefined(83) && (wordAt(identity, 82) & 1U) != 0;
  found.isSmartEnabled = found.hasSmart && (wordAt(identity, 85) & 1U) != 0;
  found.hasLogs = found.hasSmart && isDefined(84) && (wordAt(identity, 84) & 3U) != 0;
  return found;
}

std::string parseAtaModel(Bytes page) {
  constexpr std::size_t kIdentity = 60;
  constexpr std::size_t kFirstWord = 27;
  constexpr std::size_t kLastWord = 46;
  std::string model;
  if (page.size() < kIdentity + (kLastWord + 1) * 2 || page[1] != 0x89) return model;
  const Bytes identity = page.subspan(kIdentity);
  for (std::size_t word = kFirstWord; word <= kLastWord; ++word) {
    // The first of each two characters is in the upper byte.
    for (const std::uint8_t byte : {identity[word * 2 + 1], identity[word * 2]})
      model += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : ' ';
  }
  return model;
}

unsigned parseAtaLogPages(Bytes directory, std::uint8_t number) {
  if (directory.size() < kAtaSectorBytes || wordAt(directory, 0) != 1) return 0;
  return wordAt(directory, number);
}

std::optional<DriveHealth> parseSmartAttributes(Bytes data, std::string_view model) {
  if (data.size() < kAtaSectorBytes) return std::nullopt;
  data = data.first(kAtaSectorBytes);
  unsigned sum = 0;
  for (const std::uint8_t byte : data) sum += byte;
  if ((sum & 0xFFU) != 0 || wordAt(data, 0) == 0) return std::nullopt;
  DriveHealth health;
  if (std::any_of(kOtherUnits.begin(), kOtherUnits.end(),
                  [&](std::string_view prefix) { return model.starts_with(prefix); }))
    return health;
  constexpr std::size_t kFirst = 2;
  constexpr std::size_t kCount = 30;
  constexpr std::size_t kBytes = 12;
  for (std::size_t at = kFirst; at < kFirst + kCount * kBytes; at += kBytes)
    takeAttribute(health, {data[at], numberAt(data, at + 5, 6)});
  return health;
}

DriveHealth parseDeviceStatistics(Bytes pages) {
  DriveHealth health;
  if (const Bytes general = statisticsPage(pages, 1); !general.empty())
    health.powerOnHours = statisticAt(general, 16, 4);
  if (const Bytes errors = statisticsPage(pages, 4); !errors.empty())
    health.mediaErrors = statisticAt(errors, 8, 4);
  if (const Bytes temperature = statisticsPage(pages, 5); !temperature.empty())
    if (const auto byte = statisticAt(temperature, 8, 1)) health.temperatureCelsius = plausibleDegrees(*byte);
  if (const Bytes solidState = statisticsPage(pages, 7); !solidState.empty())
    if (const auto percent = statisticAt(solidState, 8, 1))
      health.percentageUsed = static_cast<double>(*percent);
  return health;
}

DriveHealth fillFrom(DriveHealth health, const DriveHealth& other) {
  const auto fill = [](auto& value, const auto& from) {
    if (!value) value = from;
  };
  fill(health.isPassing, other.isPassing);
  fill(health.percentageUsed, other.percentageUsed);
  fill(health.powerOnHours, other.powerOnHours);
  fill(health.temperatureCelsius, other.temperatureCelsius);
  fill(health.mediaErrors, other.mediaErrors);
  return health;
}

}  // namespace hostwire
