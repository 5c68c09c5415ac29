// The machine's drives and the health that each of them reports (SMART), asked by probers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

enum class DriveKind { kNvme, kAta, kScsi, kOther };

// A value is absent where the drive does not report it, or reports it in a vendor-specific form.
struct DriveHealth {
  std::optional<bool> isPassing;         // the drive's own verdict: false when it predicts its failure
  std::optional<double> percentageUsed;  // of its rated endurance; may exceed 100
  std::optional<std::uint64_t> powerOnHours;
  std::optional<double> temperatureCelsius;
  std::optional<std::uint64_t> mediaErrors;  // unrecoverable reads and writes, over its life
  friend bool operator==(const DriveHealth&, const DriveHealth&) = default;
};

// All texts are valid UTF-8.
struct DriveCounters {
  std::string name;   // "nvme0n1", "sda", "PhysicalDrive0"
  std::string model;  // "Samsung SSD 990 PRO 2TB"; may be empty
  DriveKind kind = DriveKind::kOther;
  std::optional<DriveHealth> health;
  std::string failure;  // why `health` is empty, without a full stop
};

struct DriveAges {
  std::chrono::milliseconds list{10'000};  // minimum time between two searches for drives
  // Minimum time between two questions to a drive. Health changes over weeks, and each question is a few
  // commands that the drive executes before its other work.
  std::chrono::milliseconds health{300'000};
  // Maximum age: an older temperature is not shown, nor are values of a drive that has not answered for this
  // long.
  std::chrono::milliseconds max{900'000};
};

class DrivesReader {
 public:
  DrivesReader(const Roots& roots, ProberPool& probers, const DriveAges& ages = {});
  ~DrivesReader();
  // Reads them; only for detail. Empty until the first search, which the first reading starts, has ended. A
  // drive that is asleep is not woken, and keeps its last values except the temperature.
  std::vector<DriveCounters> read();
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
