// Parsers of diskstats and udev's labels.
#include "linux/disks/parse_disks.h"

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // in diskstats, whatever the device's own size

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::vector<DeviceIo> parseDiskstats(std::string_view text) {
  std::vector<DeviceIo> devices;
  std::string_view line;
  while (takeLine(text, line)) {
    const auto major = takeUnsigned(line);
    const auto minor = takeUnsigned(line);
    if (!major || !minor || *major > UINT32_MAX || *minor > UINT32_MAX) continue;
    DeviceIo device;
    device.device = {static_cast<std::uint32_t>(*major), static_cast<std::uint32_t>(*minor)};
    device.name = takeWord(line);
    // reads, reads merged, sectors read, ms reading, writes, writes merged, sectors written, ms writing, in
    // flight, ms with anything in flight; the columns after these are not needed.
    std::uint64_t columns[10] = {};
    bool isWhole = true;
    for (std::uint64_t& column : columns) {
      const auto value = takeUnsigned(line);
      isWhole = isWhole && value.has_value();
      column = value.value_or(0);
    }
    if (!isWhole) continue;
    device.io = {columns[2] * kSectorBytes, columns[6] * kSectorBytes, columns[9]};
    devices.push_back(device);
  }
  return devices;
}

std::string parseLabelLink(std::string_view name) {
  std::string label;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 3 < name.size() && name[i + 1] == 'x') {
      const int high = hexDigit(name[i + 2]);
      const int low = hexDigit(name[i + 3]);
      if (high >= 0 && low >= 0) {
        label += static_cast<char>(high * 16 + low);
        i += 3;
        continue;
      }
    }
    label += name[i];
  }
  return label;
}

}  // namespace hostwire
