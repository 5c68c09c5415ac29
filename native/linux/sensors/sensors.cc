// The sensors of Linux: one prober searches for chips, and each chip has one of its own, so that one that
// hangs costs only its own values.
#include "host/sensors.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "host/prober.h"
#include "host/recent.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/sensors/hwmon.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;
using Readings = std::vector<SensorReading>;

// Added and removed chips are noticed by their names; other changes are found at the longer interval.
constexpr std::chrono::seconds kChipsInterval{5};
constexpr std::chrono::seconds kSearchInterval{60};
constexpr std::chrono::seconds kReadingAge{1};

struct Entry {
  std::shared_ptr<const SensorChip> chip;
  std::shared_ptr<const Prober<Readings>> prober;
};

// The result of the search, shared with readers.
class Chips {
 public:
  std::vector<Entry> get() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  void set(std::vector<Entry> entries) {
    const std::lock_guard lock(mutex_);
    entries_.swap(entries);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

// Belongs to one prober's question.
class Search {
 public:
  Search(Roots roots, ProberPoolState pool, std::shared_ptr<Chips> chips)
      : roots_(std::move(roots)), pool_(std::move(pool)), chips_(std::move(chips)) {}

  void run() {
    const auto now = Clock::now();
    auto names = listChips(roots_);
    if (searchedAt_ && names == names_ && now - *searchedAt_ < kSearchInterval) return;
    names_ = std::move(names);
    searchedAt_ = now;
    const auto known = chips_->get();
    std::vector<Entry> entries;
    bool hasNew = false;
    for (SensorChip& chip : findChips(roots_)) {
      const auto same =
          std::find_if(known.begin(), known.end(), [&](const Entry& entry) { return *entry.chip == chip; });
      hasNew = hasNew || same == known.end();
      entries.push_back(same == known.end() ? makeEntry(std::move(chip)) : *same);
    }
    chips_->set(std::move(entries));
    // Ask now, rather than a whole interval after they were found.
    if (hasNew) askAll(pool_, std::chrono::milliseconds{0});
  }

 private:
  Entry makeEntry(SensorChip chip) const {
    auto shared = std::make_shared<const SensorChip>(std::move(chip));
    auto question = [probe = std::make_shared<ChipProbe>(*shared)] { return probe->read(); };
    auto prober = std::make_shared<const Prober<Readings>>(pool_, std::move(question), kReadingAge);
    prober->latest();  // marks it as wanted
    return {std::move(shared), std::move(prober)};
  }

  const Roots roots_;
  const ProberPoolState pool_;
  const std::shared_ptr<Chips> chips_;
  std::vector<std::string> names_;
  std::optional<Clock::time_point> searchedAt_;
};

Finding describeSensors(const std::vector<SensorCounters>& sensors, const std::string& folder) {
  const std::string subject = "sensors";
  if (sensors.empty())
    return Finding::missing(subject, folder,
                            {"no sensor chips there, as is usual in virtual machines",
                             "run sensors-detect (package lm-sensors) and load the modules that it names"});
  std::set<std::string> chips;
  std::vector<std::string> failed;
  std::vector<std::string> silent;
  for (const SensorCounters& sensor : sensors) {
    chips.insert(sensor.chip);
    if (!sensor.failure.empty())
      failed.push_back(sensor.label + " (" + sensor.failure + ")");
    else if (!sensor.value)
      silent.push_back(sensor.label);
  }
  const std::string source =
      countOf(sensors.size(), "sensor") + " of " + countOf(chips.size(), "chip") + " from " + folder;
  if (failed.empty() && silent.empty()) return Finding::works(subject, source);
  const std::string failures = failed.empty() ? "" : "failing: " + listOf(failed);
  const std::string gaps = silent.empty() ? "" : "nothing connected, or asleep: " + listOf(silent);
  return Finding::partly(subject, source, {joinTexts({failures, gaps}), ""});
}

// Returns whether a SATA disk is present: libata gives each this vendor (drivers/ata/libata-scsi.c); USB and
// SCSI disks have their own.
bool hasSataDisk(const std::string& sys) {
  const std::string folder = sys + "/block/";
  const auto disks = listFolder(folder);
  return std::any_of(disks.begin(), disks.end(), [&](const std::string& name) {
    return name.starts_with("sd") && readSmallFile(folder + name + "/device/vendor").starts_with("ATA");
  });
}

// SATA disks have a sensor chip only through a kernel module.
Finding describeDrives(const std::vector<SensorCounters>& sensors, const std::string& sys) {
  const std::string subject = "drives";
  std::vector<std::string> chips;
  bool hasDriveTemp = false;
  for (const SensorCounters& sensor : sensors) {
    hasDriveTemp = hasDriveTemp || sensor.driver == "drivetemp";
    const bool isDrive = sensor.driver == "nvme" || sensor.driver == "drivetemp";
    if (isDrive && std::find(chips.begin(), chips.end(), sensor.chip) == chips.end())
      chips.push_back(sensor.chip);
  }
  const std::string source = chips.empty() ? "no drive temperature" : "temperature of " + listOf(chips);
  if (!hasDriveTemp && hasSataDisk(sys)) {
    const Obstacle obstacle{
        "the temperature of SATA disks is read through the module drivetemp only, which is not loaded",
        "run modprobe drivetemp, and add a line \"drivetemp\" in /etc/modules-load.d/drivetemp.conf"};
    return chips.empty() ? Finding::missing(subject, source, obstacle)
                         : Finding::partly(subject, source, obstacle);
  }
  if (!chips.empty()) return Finding::works(subject, source);
  return Finding::missing(subject, source, {"no NVMe or SATA drive was found", ""});
}

}  // namespace

struct SensorsReader::State {
  State(const Roots& givenRoots, ProberPool& probers)
      : roots(givenRoots),
        chips(std::make_shared<Chips>()),
        search(
            probers,
            [search = std::make_shared<Search>(givenRoots, probers.state(), chips)] {
              search->run();
              return true;
            },
            kChipsInterval) {}

  const Roots roots;
  const std::shared_ptr<Chips> chips;
  const Prober<bool> search;
};

SensorsReader::SensorsReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
SensorsReader::~SensorsReader() = default;

std::vector<SensorCounters> SensorsReader::read() {
  static_cast<void>(state_->search.latest());  // marks it as wanted
  std::vector<SensorCounters> sensors;
  for (const Entry& entry : state_->chips->get()) {
    auto answer = entry.prober->latest();
    std::string failure = answer.isStale ? "no answer" : answer.error;
    const Readings readings = recentValue(std::move(answer)).value_or(Readings{});
    for (std::size_t at = 0; at < entry.chip->inputs.size(); ++at) {
      const SensorInput& input = entry.chip->inputs[at];
      SensorCounters sensor;
      sensor.driver = entry.chip->driver;
      sensor.chip = entry.chip->name;
      sensor.label = entry.chip->name + " " + input.name;
      sensor.device = entry.chip->device;
      const bool isOfSpare = at < readings.size() && readings[at].isOfSpare;
      const std::string& path = isOfSpare ? input.spare : input.path;
      sensor.file = path.substr(path.rfind('/') + 1);
      sensor.ownLabel = input.label;
      sensor.kind = input.kind;
      sensor.failure = failure;
      if (at < readings.size()) {
        sensor.value = readings[at].value;
        if (failure.empty()) sensor.failure = readings[at].failure;
      }
      sensors.push_back(std::move(sensor));
    }
  }
  return sensors;
}

Findings SensorsReader::describe() {
  const std::string& sys = state_->roots.sys;
  const std::string folder = sys + "/class/hwmon";
  return describeOrExplain("sensors", folder, [&]() -> Findings {
    const auto sensors = read();
    return {describeSensors(sensors, folder), describeDrives(sensors, sys)};
  });
}

}  // namespace hostwire
