// Parses the health report of an ATA drive (ATA Command Set, ACS-4; SCSI/ATA Translation, SAT-4): pure,
// never throws. Sectors are 512 bytes; truncated data yields nothing.
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
// Pages 0 to 7 of the Device Statistics log, the only ones that are read.
inline constexpr std::size_t kAtaStatisticsPages = 8;

// The drive's registers after a command.
struct AtaRegisters {
  std::uint8_t error = 0;
  std::uint8_t status = 0;
  std::uint8_t count = 0;
  std::uint8_t lbaMid = 0;
  std::uint8_t lbaHigh = 0;
  bool hasFailed() const { return (status & 0x21U) != 0; }  // ERR or DF
};

// Extracts them from the sense data of ATA PASS-THROUGH, in descriptor or fixed format.
std::optional<AtaRegisters> parseAtaSense(std::span<const std::uint8_t> sense);

// Evaluates the answer to CHECK POWER MODE: whether reading anything would start the motor.
bool isAtaStandby(const AtaRegisters& answer);

// Evaluates the answer to SMART RETURN STATUS; nothing if it is neither of the two that are defined.
std::optional<bool> parseSmartStatus(const AtaRegisters& answer);

struct AtaIdentity {
  bool hasSmart = false;
  bool isSmartEnabled = false;
  bool hasLogs = false;  // SMART READ LOG
};
std::optional<AtaIdentity> parseAtaIdentity(std::span<const std::uint8_t> identity);

// Returns the whole model name (40 characters, padded with blanks) from the vital product data page 89h of
// SAT, which holds the answer to IDENTIFY DEVICE; empty if the page is not that.
std::string parseAtaModel(std::span<const std::uint8_t> page);

// Returns the number of pages of log `number`, from the log directory (log 0).
unsigned parseAtaLogPages(std::span<const std::uint8_t> directory, std::uint8_t number);

// Parses SMART READ DATA. `model` identifies drives whose attributes have other units.
std::optional<DriveHealth> parseSmartAttributes(std::span<const std::uint8_t> data, std::string_view model);

// Parses the first kAtaStatisticsPages pages of the Device Statistics log.
DriveHealth parseDeviceStatistics(std::span<const std::uint8_t> pages);

// Returns `health` with its missing values taken from `other`.
DriveHealth fillFrom(DriveHealth health, const DriveHealth& other);

}  // namespace hostwire
