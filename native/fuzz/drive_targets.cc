// Fuzz targets, third part: the answers of drives and their drivers.
#include <cstdint>
#include <span>

#include "firmware/parse_ata_health.h"
#include "firmware/parse_nvme_health.h"
#include "fuzz/targets.h"
#include "windows/drives/parse_storage.h"

namespace hostwire {
namespace {

using Bytes = std::span<const std::uint8_t>;

Bytes bytesOf(std::string_view input) {
  return {reinterpret_cast<const std::uint8_t*>(input.data()), input.size()};
}

void requireHealth(const DriveHealth& health) {
  if (health.temperatureCelsius)
    require(*health.temperatureCelsius > -50 && *health.temperatureCelsius <= 150, "a plausible temperature");
  if (health.percentageUsed)
    require(*health.percentageUsed >= 0 && *health.percentageUsed <= 255, "a share of the endurance");
}

void runNvmeHealth(std::string_view input) {
  const auto health = parseNvmeHealth(bytesOf(input));
  if (health) requireHealth(*health);
}

void runAtaSense(std::string_view input) {
  const auto registers = parseAtaSense(bytesOf(input));
  if (!registers) return;
  const bool isAnswer = isAtaStandby(*registers) || parseSmartStatus(*registers).has_value();
  require(!(isAnswer && registers->hasFailed()), "a command that failed answers nothing");
}

void runAtaSector(std::string_view input) {
  const Bytes sector = bytesOf(input);
  const auto identity = parseAtaIdentity(sector);
  if (identity)
    require(identity->hasSmart || !identity->isSmartEnabled, "only a supported feature is enabled");
  require(parseAtaModel(sector).size() <= 40, "a model has 40 characters");
  require(parseAtaLogPages(sector, kAtaStatisticsLog) <= 0xFFFF, "a word");
  for (const char* model : {"ST4000DM004", "SAMSUNG SP0802N"}) {
    const auto health = parseSmartAttributes(sector, model);
    if (health) requireHealth(*health);
  }
}

void runDeviceStatistics(std::string_view input) {
  const DriveHealth health = parseDeviceStatistics(bytesOf(input));
  requireHealth(health);
  require(fillFrom(health, health) == health, "nothing is lacking twice");
}

void runWindowsStorage(std::string_view input) {
  const auto device = windows::parseStorageDevice(bytesOf(input));
  if (device) require(device->model.size() <= 2 * input.size() + 1, "no name out of nothing");
  require(windows::findLogPage(bytesOf(input)).size() <= input.size(), "the page is in the answer");
}

}  // namespace

const std::vector<FuzzTarget>& driveTargets() {
  static const std::vector<FuzzTarget> targets = {
      {"nvme-health", "", runNvmeHealth},         {"ata-sense", "", runAtaSense},
      {"ata-sector", "", runAtaSector},           {"ata-statistics", "", runDeviceStatistics},
      {"windows-storage", "", runWindowsStorage},
  };
  return targets;
}

}  // namespace hostwire
