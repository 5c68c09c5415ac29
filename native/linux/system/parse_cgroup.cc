// Parsers of control groups.
#include "linux/system/parse_cgroup.h"

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

// Limits the files that are kept open. Services are 2 to 8 levels deep.
constexpr std::size_t kMaxLevels = 32;

// Version 1 writes "no limit" as PAGE_COUNTER_MAX in bytes (include/linux/page_counter.h), which depends on
// the size of a page, 64 KiB at most.
constexpr std::int64_t kUnlimitedBytes = 0x7FFF'FFFF'FFFF'0000;

// Returns whether the list has the item, as "rw,cpu,cpuacct" has "cpu".
bool hasItem(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (list.substr(0, end) == item) return true;
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return false;
}

bool isOfHierarchy(const Mount& mount, bool isUnified, std::string_view controller) {
  if (isUnified) return mount.type == "cgroup2";
  return mount.type == "cgroup" && hasItem(mount.options, controller);
}

// Returns the part of `path` below `root`: empty, or beginning with a slash. Nothing if it is not below it.
// Seen from a cgroup namespace, roots and cgroups outside of it begin with "/..".
std::optional<std::string_view> pathBelow(std::string_view path, std::string_view root) {
  if (root == "/") root = {};
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (path == "/") return std::string_view{};
  if (!path.empty() && path.front() != '/') return std::nullopt;
  if (path == "/.." || path.starts_with("/../")) return std::nullopt;
  return path;
}

}  // namespace

std::optional<CgroupPlace> findCgroup(std::string_view text, std::string_view controller) {
  std::optional<CgroupPlace> place;
  std::string_view line;
  while (takeLine(text, line)) {
    // "4:cpu,cpuacct:/system.slice", "0::/system.slice": the path may have colons.
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    const bool isUnified = line.starts_with("0::");
    if (isUnified && !place) place = {true, std::string(path)};
    if (hasItem(controllers, controller)) return CgroupPlace{false, std::string(path)};
  }
  return place;
}

std::vector<std::string> cgroupFolders(const CgroupPlace& place, std::string_view controller,
                                       const std::vector<Mount>& mounts) {
  const Mount* chosen = nullptr;
  std::string_view below;
  for (const Mount& mount : mounts) {
    if (!isOfHierarchy(mount, place.isUnified, controller)) continue;
    const auto part = pathBelow(place.path, mount.root);
    // Prefers the mount that shows the most ancestors; of equal ones the last, which may cover the others.
    if (!part || (chosen != nullptr && mount.root.size() > chosen->root.size())) continue;
    chosen = &mount;
    below = *part;
  }
  std::vector<std::string> folders;
  if (chosen == nullptr) return folders;
  std::string folder = chosen->point;
  folder += below;
  folders.push_back(folder);
  while (folder.size() > chosen->point.size() && folders.size() < kMaxLevels) {
    folder.resize(folder.rfind('/'));
    folders.push_back(folder);
  }
  return folders;
}

std::optional<std::uint64_t> parseMemoryLimit(std::string_view text) {
  const auto bytes = parseInteger(text);
  if (!bytes || *bytes < 0 || *bytes >= kUnlimitedBytes) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<double> cpusOfQuota(std::optional<std::int64_t> quotaUs, std::optional<std::int64_t> periodUs) {
  if (quotaUs.value_or(0) <= 0 || periodUs.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*quotaUs) / static_cast<double>(*periodUs);
}

std::optional<double> parseCpuMax(std::string_view text) {
  const auto quota = parseInteger(takeWord(text));
  return cpusOfQuota(quota, parseInteger(text));
}

std::optional<CpuThrottling> parseThrottling(std::string_view text) {
  std::optional<std::uint64_t> periods;
  std::optional<std::uint64_t> throttled;
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view key = takeWord(line);
    if (key == "nr_periods") periods = takeUnsigned(line);
    if (key == "nr_throttled") throttled = takeUnsigned(line);
  }
  if (!periods || !throttled) return std::nullopt;
  return CpuThrottling{{}, *periods, *throttled};
}

}  // namespace hostwire
