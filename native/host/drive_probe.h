// What a platform adds to host/drives.h: finding drives and asking one. Both are for probers, as they may
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
  std::string folder;  // where sysfs describes it; empty elsewhere
  std::string whyNot;  // why it has no health, where that is known without asking
  friend bool operator==(const FoundDrive&, const FoundDrive&) = default;
};

struct DriveAnswer {
  std::optional<DriveHealth> health;
  std::string failure;    // why there is none
  bool isAsleep = false;  // not asked, because that would have woken it
};

inline DriveAnswer failed(std::string failure) { return {{}, std::move(failure)}; }
inline DriveAnswer asleep() { return {{}, "it is asleep, and reading its health would wake it", true}; }

// Reasons that every platform gives.
inline constexpr std::string_view kVirtualDrive = "a virtual disk has no health";
inline constexpr std::string_view kOtherDrive = "health is read from NVMe and ATA drives only";
inline constexpr std::string_view kEmptyLog = "the drive's health log is empty";

// In the order in which they are shown. Throws HostError.
std::vector<FoundDrive> findDrives(const Roots& roots);

// A question that is used by one thread at a time, for a drive without `whyNot`. It may throw HostError.
std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive& drive);

}  // namespace hostwire
