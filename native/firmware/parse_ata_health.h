// What an ATA drive reports about its health (ATA Command Set, ACS-4; SCSI/ATA Translation, SAT-4): pure,
// never throws. Sectors are 512 bytes; what is cut short yields nothing.
//
// The standard defines the verdict of SMART RETURN STATUS and the Device Statistics log. It leaves the
// attributes of SMART READ DATA to the vendors, and only four of them mean the same on nearly every drive: 9
// (hours), 194 and 190 (degrees), 187 (uncorrectable errors that were reported). They fill in where a drive
// has no Device Statistics. Not used, because vendors disagree: wear (231, 233, 202 and 177 are a share left,
// a share used, a count of erasures, gigabytes written or a temperature); 5, 197 and 198 (sectors on some
// drives, packed counters on others, and none of them is an error that a program has seen).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/drives.h"

namespace hostwire {

inline constexpr std::size_t kAtaSectorBytes = 512;
inline constexpr std::uint8_t kAtaStatisticsLog = 0x04;
// Pages 0 to 7 of the Device Statistics log, which are all that is read of it.
inline constexpr std::size_t kAtaStatisticsPages = 8;

// What a command leaves in the drive's registers.
struct AtaRegisters {
  std::uint8_t error = 0;
  std::uint8_t status = 0;
  std::uint8_t count = 0;
  std::uint8_t lbaMid = 0;
  std::uint8_t lbaHigh = 0;
  bool hasFailed() const { return (status & 0x21U) != 0; }  // ERR or DF
};

// Out of the sense data that ATA PASS-THROUGH answers, in descriptor or fixed format.
std::optional<AtaRegisters> parseAtaSense(std::span<const std::uint8_t> sense);

// The answer to CHECK POWER MODE: whether reading anything would have to start its motor.
bool isAtaStandby(const AtaRegisters& answer);

// The answer to SMART RETURN STATUS; nothing where it is neither of the two that are defined.
std::optional<bool> parseSmartStatus(const AtaRegisters& answer);

struct AtaIdentity {
  bool hasSmart = false;
  bool isSmartEnabled = false;
  bool hasLogs = false;  // SMART READ LOG
};
std::optional<AtaIdentity> parseAtaIdentity(std::span<const std::uint8_t> identity);

// The whole model name (40 characters, padded with blanks) out of the vital product data page 89h of SAT,
// which holds the answer to IDENTIFY DEVICE; empty where that is not what it is.
std::string parseAtaModel(std::span<const std::uint8_t> page);

// How many pages log `number` has, out of the log directory (log 0).
unsigned parseAtaLogPages(std::span<const std::uint8_t> directory, std::uint8_t number);

// SMART READ DATA. `model` identifies drives whose attributes have other units.
std::optional<DriveHealth> parseSmartAttributes(std::span<const std::uint8_t> data, std::string_view model);

// The first kAtaStatisticsPages pages of the Device Statistics log.
DriveHealth parseDeviceStatistics(std::span<const std::uint8_t> pages);

// `health`, with what it lacks taken from `other`.
DriveHealth fillFrom(DriveHealth health, const DriveHealth& other);

}  // namespace hostwire
