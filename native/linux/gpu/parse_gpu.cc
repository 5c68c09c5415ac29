// Parsers of Linux's texts about graphics processors.
#include "linux/gpu/parse_gpu.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

constexpr std::string_view kWhite = " \t\r\n";
// More kinds of engines than any driver has: limits the cost of a text.
constexpr std::size_t kMaxEngines = 64;
constexpr std::uint64_t kMaxCapacity = 1024;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhite);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

// Returns the part of `text` up to `separator`; both are removed from `text`.
std::string_view takeUntil(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

std::string soldAs(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (!name.ends_with(']') || open == std::string_view::npos || open + 2 >= name.size())
    return std::string(name);
  return std::string(name.substr(open + 1, name.size() - open - 2));
}

// Parses a line of pci.ids: four hexadecimal digits, blanks, a name.
std::optional<std::uint32_t> takeListId(std::string_view& line) {
  if (line.size() < 5 || !isBlank(line[4])) return std::nullopt;
  const auto id = parseHex(line.substr(0, 4));
  if (!id) return std::nullopt;
  line = trimmed(line.substr(4));
  return static_cast<std::uint32_t>(*id);
}

DrmEngine* engineOf(DrmClient& client, std::string_view name) {
  const auto known = std::find_if(client.engines.begin(), client.engines.end(),
                                  [&](const DrmEngine& engine) { return engine.name == name; });
  if (known != client.engines.end()) return &*known;
  if (name.empty() || client.engines.size() == kMaxEngines) return nullptr;
  client.engines.emplace_back().name = name;
  return &client.engines.back();
}

// Parses one "drm-…" line that describes an engine.
void takeEngineLine(DrmClient& client, std::string_view key, std::string_view value) {
  const auto number = takeUnsigned(value);
  if (!number) return;
  const auto isOf = [&](std::string_view prefix) {
    if (!key.starts_with(prefix)) return false;
    key.remove_prefix(prefix.size());
    return true;
  };
  DrmEngine* engine = nullptr;
  if (isOf("drm-engine-capacity-")) {
    if ((engine = engineOf(client, key)) != nullptr)
      engine->capacity = std::clamp<std::uint64_t>(*number, 1, kMaxCapacity);
  } else if (isOf("drm-engine-")) {
    if ((engine = engineOf(client, key)) != nullptr) engine->busyNs = number;
  } else if (isOf("drm-total-cycles-")) {
    if ((engine = engineOf(client, key)) != nullptr) engine->totalCycles = number;
  } else if (isOf("drm-cycles-")) {
    if ((engine = engineOf(client, key)) != nullptr) engine->busyCycles = number;
  }
}

using Count = std::optional<std::uint64_t>;

double growthOf(Count before, Count after) {
  if (!before || !after || *after < *before) return 0;
  return static_cast<double>(*after - *before);
}

// Returns the share of one engine's time that one client used.
double shareOf(const DrmEngine& before, const DrmEngine& after, double elapsedNs) {
  const auto capacity = static_cast<double>(std::max<std::uint64_t>(1, after.capacity));
  if (after.busyNs) return elapsedNs > 0 ? growthOf(before.busyNs, after.busyNs) / elapsedNs / capacity : 0;
  const double total = growthOf(before.totalCycles, after.totalCycles);
  return total > 0 ? growthOf(before.busyCycles, after.busyCycles) / total / capacity : 0;
}

}  // namespace

std::optional<std::uint32_t> parsePciId(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("0x")) return std::nullopt;
  const auto id = parseHex(text.substr(2));
  if (!id || *id > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*id);
}

bool isSuspended(std::string_view text) {
  text = trimmed(text);
  return text == "suspended" || text == "suspending";
}

std::optional<double> parseScaled(std::string_view text, double unit, double max) {
  const auto value = parseInteger(text);
  if (!value || *value < 0) return std::nullopt;
  const double scaled = static_cast<double>(*value) / unit;
  if (scaled > max) return std::nullopt;
  return scaled;
}

std::vector<std::size_t> rankGpuTemperatures(const std::vector<std::string>& labels) {
  std::vector<std::size_t> ranked;
  for (const std::string_view wanted : {"edge", "pkg", "", "junction"})
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == wanted) ranked.push_back(i);
  return ranked;
}

std::string findPciName(std::string_view list, std::uint32_t vendor, std::uint32_t device) {
  std::string_view line;
  bool isOfVendor = false;
  while (takeLine(list, line)) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != '\t') {
      if (isOfVendor) return {};
      isOfVendor = takeListId(line) == vendor;
    } else if (isOfVendor && !line.starts_with("\t\t")) {
      line.remove_prefix(1);
      if (takeListId(line) == device) return soldAs(line);
    }
  }
  return {};
}

std::string findAmdgpuName(std::string_view list, std::uint32_t device, std::uint32_t revision) {
  std::string_view line;
  while (takeLine(list, line)) {
    if (line.starts_with('#')) continue;
    const auto foundDevice = parseHex(trimmed(takeUntil(line, ',')));
    const auto foundRevision = parseHex(trimmed(takeUntil(line, ',')));
    if (foundDevice == device && foundRevision == revision) return std::string(trimmed(line));
  }
  return {};
}

std::string findModel(std::string_view uevent) {
  std::string_view line;
  while (takeLine(uevent, line)) {
    if (takeUntil(line, '=') != "OF_COMPATIBLE_0") continue;
    return std::string(trimmed(line.substr(line.find(',') + 1)));
  }
  return {};
}

std::vector<GpuQueue> parseGpuQueues(std::string_view text) {
  std::vector<GpuQueue> queues;
  std::string_view line;
  while (takeLine(text, line) && queues.size() < kMaxEngines) {
    const std::string_view name = takeUntil(line, '\t');
    const auto readAt = takeUnsigned(line);
    const auto jobs = takeUnsigned(line);
    const auto busy = takeUnsigned(line);
    if (!name.empty() && readAt && jobs && busy) queues.push_back({std::string(name), *readAt, *busy});
  }
  return queues;
}

std::optional<double> queueLoadBetween(const std::vector<GpuQueue>& before,
                                       const std::vector<GpuQueue>& after) {
  std::optional<double> highest;
  for (const GpuQueue& queue : after)
    for (const GpuQueue& earlier : before) {
      if (earlier.name != queue.name || queue.readAtNs <= earlier.readAtNs) continue;
      const auto elapsed = static_cast<double>(queue.readAtNs - earlier.readAtNs);
      const double load = growthOf(earlier.busyNs, queue.busyNs) / elapsed * 100;
      highest = std::max(highest.value_or(0), std::min(100.0, load));
    }
  return highest;
}

std::optional<DrmClient> parseDrmClient(std::string_view text) {
  DrmClient client;
  std::optional<std::uint64_t> id;
  std::string_view line;
  while (takeLine(text, line)) {
    std::string_view value = line;
    const std::string_view key = takeUntil(value, ':');
    if (!key.starts_with("drm-")) continue;
    value = trimmed(value);
    if (key == "drm-driver") {
      client.driver = value;
    } else if (key == "drm-pdev") {
      client.device = value;
    } else if (key == "drm-client-id") {
      id = takeUnsigned(value);
    } else {
      takeEngineLine(client, key, value);
    }
  }
  if (client.driver.empty() || !id) return std::nullopt;
  client.id = *id;
  return client;
}

double drmLoadBetween(const std::vector<DrmClient>& before, const std::vector<DrmClient>& clients,
                      double elapsedNs) {
  std::map<std::string_view, double> shares;
  for (const DrmClient& client : clients) {
    const auto same = std::find_if(before.begin(), before.end(),
                                   [&](const DrmClient& known) { return known.id == client.id; });
    if (same == before.end()) continue;
    for (const DrmEngine& engine : client.engines)
      for (const DrmEngine& earlier : same->engines)
        if (earlier.name == engine.name) shares[engine.name] += shareOf(earlier, engine, elapsedNs);
  }
  double highest = 0;
  for (const auto& [name, share] : shares) highest = std::max(highest, share);
  return std::min(100.0, highest * 100);
}

}  // namespace hostwire
