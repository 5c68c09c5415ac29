// Parsers of the files in /proc that are read with every sample.
#include "linux/kernel/parse_proc.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

// Columns in the order of proc_stat(5); old kernels have fewer. softirq counts as irq; guest and guest_nice
// are already inside user and nice.
bool parseCpuTimes(std::string_view columns, CpuTimes& times) {
  const auto user = takeUnsigned(columns);
  if (!user) return false;
  times.user = *user;
  times.nice = takeUnsigned(columns).value_or(0);
  times.system = takeUnsigned(columns).value_or(0);
  times.idle = takeUnsigned(columns).value_or(0);
  times.iowait = takeUnsigned(columns).value_or(0);
  times.irq = takeUnsigned(columns).value_or(0);
  times.irq += takeUnsigned(columns).value_or(0);
  times.steal = takeUnsigned(columns).value_or(0);
  return true;
}

constexpr std::int64_t kMaxDegrees = 150;

}  // namespace

bool parseStat(std::string_view text, CpuTimes& total, std::vector<CoreTimes>* cores) {
  bool hasTotal = false;
  std::string_view line;
  // The cpu lines come first; the rest (intr alone can be 100 KB) is not parsed.
  while (takeLine(text, line) && line.starts_with("cpu")) {
    line.remove_prefix(3);
    if (!line.empty() && isBlank(line.front())) {
      hasTotal = parseCpuTimes(line, total) || hasTotal;
      continue;
    }
    if (cores == nullptr) continue;
    const auto index = takeUnsigned(line);
    CoreTimes core;
    if (!index || *index > UINT32_MAX || !parseCpuTimes(line, core.times)) continue;
    core.index = static_cast<std::uint32_t>(*index);
    cores->push_back(core);
  }
  return hasTotal;
}

std::optional<MemoryCounters> parseMeminfo(std::string_view text) {
  std::optional<std::uint64_t> total, free, available, buffers, cached, reclaimable, shared, swapTotal,
      swapFree;
  const struct {
    std::string_view key;
    std::optional<std::uint64_t>& value;
  } wanted[] = {{"MemTotal", total},  {"MemFree", free},        {"MemAvailable", available},
                {"Buffers", buffers}, {"Cached", cached},       {"SReclaimable", reclaimable},
                {"Shmem", shared},    {"SwapTotal", swapTotal}, {"SwapFree", swapFree}};
  std::string_view line;
  // All wanted lines are in the first half of the text.
  std::size_t missing = std::size(wanted);
  while (missing > 0 && takeLine(text, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    for (const auto& row : wanted) {
      if (row.key != key) continue;
      line.remove_prefix(colon + 1);
      row.value = takeKib(line);
      --missing;
      break;
    }
  }
  if (!total || *total == 0 || (!available && !free)) return std::nullopt;
  MemoryCounters counters;
  counters.totalBytes = *total;
  const std::uint64_t cache = cached.value_or(0) + reclaimable.value_or(0);
  const std::uint64_t estimate =
      free.value_or(0) + buffers.value_or(0) + cache - std::min(cache, shared.value_or(0));
  counters.availableBytes = std::min(available.value_or(estimate), *total);
  if (cached) counters.cachedBytes = cache;
  counters.buffersBytes = buffers;
  counters.swapTotalBytes = swapTotal;
  if (swapFree) counters.swapFreeBytes = std::min(*swapFree, swapTotal.value_or(*swapFree));
  return counters;
}

std::optional<std::uint64_t> takeKib(std::string_view& text) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 60U;
  const auto kib = takeUnsigned(text);
  return kib && *kib < kMaxBytes / 1024 ? std::optional(*kib * 1024) : std::nullopt;
}

std::optional<std::int64_t> parseUptime(std::string_view text) {
  constexpr double kMaxSeconds = 9e9;  // 285 years
  const auto seconds = takeDouble(text);
  if (!seconds || *seconds < 0 || *seconds > kMaxSeconds) return std::nullopt;
  return static_cast<std::int64_t>(*seconds * 1e9);
}

// After two lines of heading one row per statistic: name, type (4: unsigned, 64 bits), value.
std::optional<std::uint64_t> parseShrinkableArc(std::string_view text) {
  std::optional<std::uint64_t> size, smallest;
  std::string_view line;
  while ((!size || !smallest) && takeLine(text, line)) {
    const std::string_view name = takeWord(line);
    if (name != "size" && name != "c_min") continue;
    takeWord(line);
    (name == "size" ? size : smallest) = takeUnsigned(line);
  }
  if (!size || !smallest) return std::nullopt;
  return *size > *smallest ? *size - *smallest : 0;
}

std::optional<std::array<double, 3>> parseLoadavg(std::string_view text) {
  std::array<double, 3> averages{};
  for (double& average : averages) {
    const auto value = takeDouble(text);
    if (!value || *value < 0) return std::nullopt;
    average = *value;
  }
  return averages;
}

std::optional<Pressure> parsePressure(std::string_view text) {
  std::optional<double> some;
  Pressure pressure;
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view kind = takeWord(line);
    skipBlanks(line);
    constexpr std::string_view kPrefix = "avg10=";
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    const auto value = takeDouble(line);
    if (!value || *value < 0 || *value > 100) continue;
    if (kind == "some") some = *value;
    if (kind == "full") pressure.full = *value;
  }
  if (!some) return std::nullopt;
  pressure.some = *some;
  return pressure;
}

std::optional<std::int64_t> parseInteger(std::string_view text) {
  skipBlanks(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  for (const char* rest = end; rest != text.data() + text.size(); ++rest)
    if (!isBlank(*rest) && *rest != '\n' && *rest != '\0') return std::nullopt;
  return value;
}

std::optional<int> parseDescriptorTableSize(std::string_view text) {
  std::string_view line;
  while (takeLine(text, line)) {
    if (takeWord(line) != "FDSize:") continue;
    const auto size = takeUnsigned(line);
    // fs.nr_open cannot be set higher (sysctl_nr_open_max in fs/file.c).
    if (!size || *size > std::numeric_limits<int>::max() - 1024) return std::nullopt;
    return static_cast<int>(*size);
  }
  return std::nullopt;
}

std::optional<double> parseMillidegrees(std::string_view text) {
  const auto value = parseInteger(text);
  if (!value || *value == 0 || *value <= -50'000 || *value > kMaxDegrees * 1000) return std::nullopt;
  return static_cast<double>(*value) / 1000;
}

std::optional<double> parseZoneTemperature(std::string_view text) {
  const auto value = parseInteger(text);
  const bool isWhole = value && *value != 0 && *value > -50 && *value <= kMaxDegrees;
  return isWhole ? std::optional(static_cast<double>(*value)) : parseMillidegrees(text);
}

}  // namespace hostwire
