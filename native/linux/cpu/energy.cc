// RAPL through powercap (Documentation/power/powercap/powercap.rst). AMD's zones have Intel's names.
#include "linux/cpu/energy.h"

#include <algorithm>
#include <utility>

#include "host/clock.h"
#include "host/error.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

// Time between searches: the module may be loaded, or the files made readable, after the service started.
constexpr std::chrono::seconds kZoneInterval{60};

}  // namespace

void CpuEnergy::discover() {
  zones_.clear();
  for (const std::string& name : listFolder(folder_)) {
    const std::string zone = folder_ + name;
    const std::string zoneName = readSmallFile(zone + "/name");
    if (!isPackageZone(name, zoneName)) continue;
    const auto range = parseInteger(readSmallFile(zone + "/max_energy_range_uj"));
    if (!range || *range <= 0) continue;
    zones_.push_back(
        {toValidUtf8(zoneName), static_cast<std::uint64_t>(*range), KeptFile(zone + "/energy_uj")});
  }
  discoveredAt_ = std::chrono::steady_clock::now();
}

// Since Linux 5.10 only root may read energy_uj: power at fine steps reveals what other programs compute
// (CVE-2020-8694).
void CpuEnergy::readZones(EnergyReading& reading) {
  failure_.clear();
  for (Zone& zone : zones_) {
    try {
      const auto energy = parseInteger(zone.energy.read(buffer_));
      if (energy && *energy >= 0)
        reading.zones.push_back({zone.name, static_cast<std::uint64_t>(*energy), zone.rangeMicrojoules});
    } catch (const HostError& error) {
      failure_ = error.what();
    }
  }
}

EnergyReading CpuEnergy::read() {
  const auto now = std::chrono::steady_clock::now();
  const bool isDue = !discoveredAt_ || now - *discoveredAt_ >= kZoneInterval;
  if (isDue && (zones_.empty() || !failure_.empty())) discover();
  EnergyReading reading;
  reading.takenAtNs = readClock().monotonicNs;
  if (isDue || failure_.empty()) readZones(reading);
  reading.failure = failure_;
  return reading;
}

Finding describeEnergy(const std::string& sys, const std::optional<EnergyReading>& energy) {
  const std::string subject = "cpu-power";
  const std::string source = sys + "/class/powercap/intel-rapl:*/energy_uj";
  if (energy && !energy->failure.empty())
    return Finding::missing(
        subject, source,
        {energy->failure + " (since Linux 5.10 only root may read it: a fine-grained record of the power "
                           "reveals what other programs compute)",
         "if that is acceptable here, let a group of the service read it, by a line in /etc/tmpfiles.d: z " +
             source + " 0440 root GROUP"});
  if (!energy || energy->zones.empty())
    return Finding::missing(subject, source,
                            {"no energy counters there, as in virtual machines and on ARM",
                             "on Intel, and on AMD since Linux 5.11: load the module intel_rapl_msr"});
  return Finding::works(subject, countOf(energy->zones.size(), "package") + " from " + source);
}

}  // namespace hostwire
