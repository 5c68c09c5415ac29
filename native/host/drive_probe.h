// The platform's part of host/drives.h: finding drives and asking one. Both are for probers, because they may
// hang.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/drives.h"
#include "host/roots.h"

namespace hostwire {

struct FoundDrive {
  std::string name;
  std::string model;
  DriveKind kind = DriveKind::kOther;
  std::string path;    // of the device node
  std::string folder;  // its folder in sysfs; empty on other platforms
  std::string whyNot;  // why it has no health, if that is known without asking
  friend bool operator==(const FoundDrive&, const FoundDrive&) = default;
};

struct DriveAnswer {
  std::optional<DriveHealth> health;
  std::string failure;    // why `health` is empty
  bool isAsleep = false;  // not asked, because that would have woken it
};

inline DriveAnswer failed(std::string failure) { return {{}, std::move(failure)}; }
inline DriveAnswer asleep() { return {{}, "it is asleep, and reading its health would wake it", true}; }

// Reasons shared by all platforms.
inline constexpr std::string_view kVirtualDrive = "a virtual disk has no health";
inline constexpr std::string_view kOtherDrive = "health is read from NVMe and ATA drives only";
inline constexpr std::string_view kEmptyLog = "the drive's health log is empty";

// Returns the drives in display order. Throws HostError.
std::vector<FoundDrive> findDrives(const Roots& roots);

// Returns a question for a drive without `whyNot`. One thread at a time may use it. It may throw HostError.
std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive& drive);

}  // namespace hostwire
