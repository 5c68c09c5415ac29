// Batteries of Linux: /sys/class/power_supply. One prober asks all of them: they share one firmware, which
// answers slowly.
#include "host/batteries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <utility>

#include "host/error.h"
#include "host/prober.h"
#include "host/recent.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"
#include "linux/sensors/parse_battery.h"

namespace hostwire {
namespace {

constexpr std::chrono::seconds kBatteriesInterval{5};
constexpr std::array kProperties{
    "status",          "present",     "capacity",           "energy_now",         "energy_full",
    "charge_now",      "charge_full", "energy_full_design", "charge_full_design", "voltage_now",
    "power_now",       "current_now", "time_to_empty_now",  "time_to_full_now",   "time_to_empty_avg",
    "time_to_full_avg"};

// Returns the files of the properties as the text of uevent: each of them fails alone.
std::string readProperties(const std::string& folder) {
  std::string text;
  for (const std::string name : kProperties) {
    const std::string value = readSmallFile(std::string(folder).append("/").append(name));
    if (value.empty()) continue;
    text += "POWER_SUPPLY_";
    for (const char c : name) text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    text.append("=").append(value).append("\n");
  }
  return text;
}

// Belongs to one prober's question: used by one thread at a time.
class BatteryProbe {
 public:
  explicit BatteryProbe(const Roots& roots) : folder_(roots.sys + "/class/power_supply/") {}

  std::vector<BatteryCounters> read() {
    const auto now = std::chrono::steady_clock::now();
    if (!listedAt_ || now - *listedAt_ >= kBatteriesInterval) {
      list();
      listedAt_ = now;
    }
    std::vector<BatteryCounters> batteries;
    for (auto& [name, supply] : supplies_) {
      auto battery = readOne(name, supply);
      if (battery) batteries.push_back(std::move(*battery));
    }
    return batteries;
  }

 private:
  struct Supply {
    explicit Supply(std::string path) : folder(std::move(path)), uevent(folder + "/uevent") {}
    std::string folder;
    KeptFile uevent;
    bool isOther = false;  // not a battery of the machine: not read
  };

  void list() {
    const auto names = listFolder(folder_);
    std::erase_if(supplies_, [&](const auto& kept) {
      return !std::binary_search(names.begin(), names.end(), kept.first);
    });
    for (const std::string& name : names) {
      if (supplies_.contains(name)) continue;
      Supply supply(folder_ + name);
      const std::string type = readSmallFile(supply.folder + "/type");
      const auto scope = tryReadSmallFile(supply.folder + "/scope");
      // Every supply has a type, few have a scope: if one could not be read, the next listing tries again.
      if (type.empty() || !scope) continue;
      supply.isOther = !isSystemBattery(type, *scope);
      supplies_.emplace(name, std::move(supply));
    }
  }

  // One read of uevent returns every property at the same moment; it fails as a whole when one of them does.
  std::optional<BatteryCounters> readOne(const std::string& name, Supply& supply) {
    if (supply.isOther) return std::nullopt;
    PowerSupply read;
    try {
      read = parsePowerSupply(supply.uevent.read(buffer_));
    } catch (const HostError& error) {
      const std::string text = readProperties(supply.folder);
      read = parsePowerSupply(text);
      if (text.empty()) read.battery.failure = error.what();
    }
    if (!read.isPresent) return std::nullopt;
    read.battery.name = toValidUtf8(name);
    return std::move(read.battery);
  }

  const std::string folder_;
  std::map<std::string, Supply> supplies_;
  std::optional<std::chrono::steady_clock::time_point> listedAt_;
  std::string buffer_;
};

}  // namespace

struct BatteriesReader::State {
  State(const Roots& roots, ProberPool& probers)
      : folder(roots.sys + "/class/power_supply"),
        prober(probers, [probe = std::make_shared<BatteryProbe>(roots)] { return probe->read(); }) {}
  const std::string folder;
  const Prober<std::vector<BatteryCounters>> prober;
};

BatteriesReader::BatteriesReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
BatteriesReader::~BatteriesReader() = default;

std::vector<BatteryCounters> BatteriesReader::read() {
  return recentValue(state_->prober.latest()).value_or(std::vector<BatteryCounters>{});
}

Findings BatteriesReader::describe() {
  const std::string subject = "batteries";
  std::vector<std::string> names;
  std::vector<std::string> failures;
  for (const BatteryCounters& battery : read()) {
    names.push_back(battery.name);
    if (!battery.failure.empty()) failures.push_back(battery.name + ": " + battery.failure);
  }
  if (names.empty()) return {Finding::works(subject, "none in " + state_->folder)};
  const std::string source = listOf(names) + " from " + state_->folder;
  if (failures.empty()) return {Finding::works(subject, source)};
  if (failures.size() < names.size()) return {Finding::partly(subject, source, {joinTexts(failures), ""})};
  return {Finding::missing(subject, source, {joinTexts(failures), ""})};
}

}  // namespace hostwire
