// Names of performance counter instances.
#include "windows/win32/parse_counters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <utility>

namespace hostwire {
namespace {

std::optional<std::uint32_t> takeNumber(std::string_view& text, int base) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool takePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "0x0000C4D1"
std::optional<std::uint32_t> takeHex(std::string_view& text) {
  if (!takePrefix(text, "0x")) return std::nullopt;
  return takeNumber(text, 16);
}

// Returns the number after `key`, at any place; nothing if `key` is missing.
std::optional<std::uint32_t> numberAfter(std::string_view name, std::string_view key) {
  const std::size_t at = name.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_prefix(at + key.size());
  return takeNumber(name, 10);
}

// Converts NaN and infinity too, because NaN compares with nothing.
double atLeastZero(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace

std::vector<double> corePercentages(const std::vector<CounterInstance>& instances) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> cores;
  for (const CounterInstance& instance : instances) {
    std::string_view name = instance.name;
    const auto node = takeNumber(name, 10);
    if (!node || !takePrefix(name, ",")) continue;
    const auto index = takeNumber(name, 10);
    if (index && name.empty()) cores[{*node, *index}] = atLeastZero(instance.value);
  }
  std::vector<double> percentages;
  for (const auto& [place, percent] : cores) percentages.push_back(percent);
  return percentages;
}

std::optional<GpuInstance> parseGpuInstance(std::string_view name) {
  const std::size_t at = name.find("luid_");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at + 5);
  const auto high = takeHex(rest);
  if (!high || !takePrefix(rest, "_")) return std::nullopt;
  const auto low = takeHex(rest);
  if (!low) return std::nullopt;
  GpuInstance instance;
  instance.luid = (static_cast<std::uint64_t>(*high) << 32U) | *low;
  instance.part = numberAfter(rest, "_phys_").value_or(0);
  instance.engine = numberAfter(rest, "_eng_");
  return instance;
}

std::map<std::uint64_t, double> sumGpuLoads(const std::vector<CounterInstance>& engines) {
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, double> byEngine;
  for (const CounterInstance& client : engines) {
    const auto instance = parseGpuInstance(client.name);
    if (!instance || !instance->engine) continue;
    byEngine[{instance->luid, instance->part, *instance->engine}] += atLeastZero(client.value);
  }
  std::map<std::uint64_t, double> loads;
  for (const auto& [place, load] : byEngine) {
    double& highest = loads[std::get<0>(place)];
    highest = std::max(highest, std::min(load, 100.0));
  }
  return loads;
}

std::map<std::uint64_t, std::uint64_t> sumGpuBytes(const std::vector<CounterInstance>& memories) {
  // Above this, a double is no longer exact in bytes, and no machine has that much.
  constexpr double kMaxBytes = 9'007'199'254'740'992;
  std::map<std::uint64_t, double> sums;
  for (const CounterInstance& memory : memories) {
    const auto instance = parseGpuInstance(memory.name);
    if (instance) sums[instance->luid] += atLeastZero(memory.value);
  }
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const auto& [luid, sum] : sums) bytes[luid] = static_cast<std::uint64_t>(std::min(sum, kMaxBytes));
  return bytes;
}

}  // namespace hostwire
