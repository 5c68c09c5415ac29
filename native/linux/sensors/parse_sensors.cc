// hwmon: file names, values, display names.
#include "linux/sensors/parse_sensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

struct KindName {
  std::string_view prefix;
  SensorKind kind;
};

constexpr std::array<KindName, 4> kKinds{{
    {"temp", SensorKind::kTemperature},
    {"fan", SensorKind::kFan},
    {"in", SensorKind::kVoltage},
    {"power", SensorKind::kPower},
}};

// The fastest small fans of servers turn at less than 40,000; 65,535 is an overflowed counter.
constexpr std::int64_t kMaxRpm = 60'000;
constexpr std::int64_t kMaxMillivolts = 1'000'000;
constexpr std::int64_t kMaxMicrowatts = 100'000'000'000;

// Appends a number to each repeated name: 2, 3, …, in the order of `positions`. Empty names stay empty.
void makeUnique(std::vector<std::string>& names, const std::vector<std::size_t>& positions) {
  std::set<std::string> taken;
  std::map<std::string, unsigned> repeats;
  for (const std::size_t at : positions) {
    std::string& name = names[at];
    if (name.empty()) continue;
    std::string unique = name;
    while (!taken.insert(unique).second) unique = name + " " + std::to_string(++repeats[name] + 1);
    name = std::move(unique);
  }
}

std::vector<std::size_t> positionsOf(std::size_t count) {
  std::vector<std::size_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  return positions;
}

// Orders chips by all that identifies them.
std::vector<std::size_t> orderByIdentity(const std::vector<ChipNames>& chips) {
  const auto identityOf = [&](std::size_t at) {
    const ChipNames& chip = chips[at];
    return std::tie(chip.inputs, chip.device, chip.driver, chip.place, chip.name);
  };
  auto positions = positionsOf(chips.size());
  std::stable_sort(positions.begin(), positions.end(),
                   [&](std::size_t a, std::size_t b) { return identityOf(a) < identityOf(b); });
  return positions;
}

}  // namespace

std::optional<SensorFile> parseSensorFileName(std::string_view name) {
  for (const KindName& row : kKinds) {
    if (!name.starts_with(row.prefix)) continue;
    std::string_view rest = name.substr(row.prefix.size());
    SensorFile file;
    file.kind = row.kind;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), file.number);
    if (error != std::errc{}) continue;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    file.isAverage = row.kind == SensorKind::kPower && rest == "_average";
    if (rest == "_input" || file.isAverage) return file;
  }
  return std::nullopt;
}

std::string sensorPrefix(SensorKind kind, unsigned number) {
  const auto row =
      std::find_if(kKinds.begin(), kKinds.end(), [kind](const KindName& one) { return one.kind == kind; });
  return std::string(row == kKinds.end() ? std::string_view{} : row->prefix) + std::to_string(number);
}

std::optional<double> parseSensorValue(SensorKind kind, std::string_view text) {
  if (kind == SensorKind::kTemperature) return parseMillidegrees(text);
  const auto value = parseInteger(text);
  if (!value) return std::nullopt;
  const auto number = static_cast<double>(*value);
  if (kind == SensorKind::kFan)
    return *value >= 0 && *value <= kMaxRpm ? std::optional(number) : std::nullopt;
  if (kind == SensorKind::kPower)
    return *value >= 0 && *value <= kMaxMicrowatts && *value != UINT32_MAX ? std::optional(number / 1e6)
                                                                           : std::nullopt;
  const bool isPlausible = *value >= -kMaxMillivolts && *value <= kMaxMillivolts;
  return isPlausible ? std::optional(number / 1000) : std::nullopt;
}

std::string cleanName(std::string_view text) {
  std::string clean;
  for (char c : text) {
    const bool isSpace = isBlank(c) || c == '\n' || c == '\r' || c == '\0';
    if (!isSpace)
      clean += c;
    else if (!clean.empty() && clean.back() != ' ')
      clean += ' ';
  }
  if (clean.ends_with(' ')) clean.pop_back();
  return clean;
}

std::vector<std::string> nameChips(const std::vector<ChipNames>& chips) {
  std::map<std::string_view, unsigned> count;
  for (const ChipNames& chip : chips) ++count[chip.name];
  std::vector<std::string> names;
  names.reserve(chips.size());
  for (const ChipNames& chip : chips) {
    if (count[chip.name] == 1 || chip.place.empty()) {
      names.push_back(chip.name);
    } else {
      names.push_back(chip.place.starts_with(chip.name) ? chip.place : chip.name + " " + chip.place);
    }
  }
  makeUnique(names, orderByIdentity(chips));
  return names;
}

std::vector<std::string> identifyChips(const std::vector<ChipNames>& chips) {
  std::map<std::string_view, unsigned> count;
  for (const ChipNames& chip : chips) ++count[chip.device];
  std::vector<std::string> devices;
  devices.reserve(chips.size());
  for (const ChipNames& chip : chips) {
    const bool isShared = !chip.device.empty() && count[chip.device] > 1;
    devices.push_back(isShared ? chip.device + "/" + chip.driver : chip.device);
  }
  makeUnique(devices, orderByIdentity(chips));
  return devices;
}

std::vector<std::string> nameInputs(const std::vector<InputNames>& inputs) {
  std::map<std::string_view, unsigned> count;
  for (const InputNames& input : inputs) ++count[input.label];
  std::vector<std::string> names;
  names.reserve(inputs.size());
  for (const InputNames& input : inputs) {
    if (input.label.empty()) {
      names.push_back(input.prefix);
    } else {
      names.push_back(count[input.label] == 1 ? input.label : input.label + " " + input.prefix);
    }
  }
  makeUnique(names, positionsOf(names.size()));
  return names;
}

}  // namespace hostwire
