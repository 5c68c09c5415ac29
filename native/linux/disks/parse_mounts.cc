// Parser of mountinfo.
#include "linux/disks/parse_mounts.h"

#include <array>
#include <charconv>
#include <utility>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

bool isOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blank, tab, newline and backslash as three octal digits (seq_escape); some filesystems
// escape more bytes.
std::string unescapeOctal(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isEscape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' &&
                          isOctal(text[i + 1]) && isOctal(text[i + 2]) && isOctal(text[i + 3]);
    if (!isEscape) {
      bytes += text[i];
      continue;
    }
    bytes += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return bytes;
}

// Returns the value of `key` in "rw,key=value,…"; the key itself for an option without a value.
std::optional<std::string_view> findOption(std::string_view options, std::string_view key) {
  while (!options.empty()) {
    const std::size_t end = options.find(',');
    const std::string_view option = options.substr(0, end);
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
    const std::size_t equals = option.find('=');
    if (option.substr(0, equals) != key) continue;
    return equals == std::string_view::npos ? option : option.substr(equals + 1);
  }
  return std::nullopt;
}

std::optional<Mount> parseMount(std::string_view line) {
  Mount mount;
  const auto id = takeUnsigned(line);
  const auto parentId = takeUnsigned(line);
  const auto device = parseDeviceNumber(takeWord(line));
  if (!id || !parentId || !device) return std::nullopt;
  mount.id = *id;
  mount.parentId = *parentId;
  mount.device = *device;
  mount.root = unescapeOctal(takeWord(line));
  mount.point = unescapeOctal(takeWord(line));
  const std::string_view mountOptions = takeWord(line);
  // Any number of optional fields, then a lone hyphen.
  std::string_view word;
  do {
    word = takeWord(line);
    if (word.empty()) return std::nullopt;
  } while (word != "-");
  mount.type = unescapeOctal(takeWord(line));
  // The source may be empty (`mount -t tmpfs ""`): two blanks then separate type and options.
  if (line.starts_with("  ")) {
    line.remove_prefix(1);
  } else {
    mount.source = unescapeOctal(takeWord(line));
  }
  const std::string_view superOptions = takeWord(line);
  if (mount.type.empty() || !mount.point.starts_with('/')) return std::nullopt;
  mount.isReadOnly = findOption(mountOptions, "ro") || findOption(superOptions, "ro");
  if (mount.type == "btrfs") {
    const auto subvolume = findOption(superOptions, "subvolid");
    mount.subvolume = subvolume ? *subvolume : mount.root;
  }
  if (mount.type == "cgroup") mount.options = superOptions;
  return mount;
}

}  // namespace

std::vector<Mount> parseMountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  std::string_view line;
  while (takeLine(text, line))
    if (auto mount = parseMount(line)) mounts.push_back(std::move(*mount));
  return mounts;
}

std::vector<std::string> devicePathsOf(std::string_view source) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTags{
      {{"UUID=", "by-uuid/"},
       {"LABEL=", "by-label/"},
       {"PARTUUID=", "by-partuuid/"},
       {"PARTLABEL=", "by-partlabel/"}}};
  for (const auto& [tag, folder] : kTags)
    if (source.starts_with(tag))
      return {std::string("/dev/disk/").append(folder).append(source.substr(tag.size()))};
  std::vector<std::string> paths;
  while (source.starts_with("/dev/")) {
    const std::size_t end = source.find(":/dev/");
    paths.emplace_back(source.substr(0, end));
    source = end == std::string_view::npos ? std::string_view{} : source.substr(end + 1);
  }
  return paths;
}

std::optional<DeviceNumber> parseDeviceNumber(std::string_view text) {
  DeviceNumber number;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, number.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != ':') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, number.minor);
  if (minor.ec != std::errc{} || minor.ptr != end) return std::nullopt;
  return number;
}

}  // namespace hostwire
