// The columns of /proc/diskstats.
#include "linux/metrics/parse_devices.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "linux/kernel/scan.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

// Limits the answer; more devices than a machine has drives.
constexpr std::size_t kMaxDevices = 512;
constexpr unsigned kMilliseconds = 3;
// The kernel's unit, whatever the device's own sector size is.
constexpr std::uint64_t kSectorBytes = 512;

struct Column {
  const char* name;
  const char* help;
  MetricType type = MetricType::kCounter;
  unsigned decimals = 0;
  std::uint64_t factor = 1;
};
// In the kernel's order. Linux 4.18 added those of discards, 5.5 those of flushes.
constexpr std::array kColumns{
    Column{"node_disk_reads_completed_total", "The total number of reads completed successfully."},
    Column{"node_disk_reads_merged_total", "The total number of reads merged."},
    Column{"node_disk_read_bytes_total", "The total number of bytes read successfully.", MetricType::kCounter,
           0, kSectorBytes},
    Column{"node_disk_read_time_seconds_total", "The total number of seconds spent by all reads.",
           MetricType::kCounter, kMilliseconds},
    Column{"node_disk_writes_completed_total", "The total number of writes completed successfully."},
    Column{"node_disk_writes_merged_total", "The number of writes merged."},
    Column{"node_disk_written_bytes_total", "The total number of bytes written successfully.",
           MetricType::kCounter, 0, kSectorBytes},
    Column{"node_disk_write_time_seconds_total", "This is the total number of seconds spent by all writes.",
           MetricType::kCounter, kMilliseconds},
    Column{"node_disk_io_now", "The number of I/Os currently in progress.", MetricType::kGauge},
    Column{"node_disk_io_time_seconds_total", "Total seconds spent doing I/Os.", MetricType::kCounter,
           kMilliseconds},
    Column{"node_disk_io_time_weighted_seconds_total", "The weighted # of seconds spent doing I/Os.",
           MetricType::kCounter, kMilliseconds},
    Column{"node_disk_discards_completed_total", "The total number of discards completed successfully."},
    Column{"node_disk_discards_merged_total", "The total number of discards merged."},
    Column{"node_disk_discarded_sectors_total", "The total number of sectors discarded successfully."},
    Column{"node_disk_discard_time_seconds_total",
           "This is the total number of seconds spent by all discards.", MetricType::kCounter, kMilliseconds},
    Column{"node_disk_flush_requests_total", "The total number of flush requests completed successfully"},
    Column{"node_disk_flush_requests_time_seconds_total",
           "This is the total number of seconds spent by all flush requests.", MetricType::kCounter,
           kMilliseconds}};

struct Device {
  std::string name;
  std::uint64_t major = 0, minor = 0;
  std::array<std::uint64_t, kColumns.size()> values{};
  std::size_t count = 0;  // number of values that this kernel has
};

bool isNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns whether the name is one of these beginnings and a number, which is a partition or a device without
// a drive: loop0, ram0, fd0, sda1, vdb2, xvda1.
bool isNumbered(std::string_view name) {
  for (const std::string_view prefix : {"loop", "ram", "fd"})
    if (name.starts_with(prefix) && isNumber(name.substr(prefix.size()))) return true;
  for (const std::string_view prefix : {"sd", "hd", "vd", "xvd"}) {
    if (!name.starts_with(prefix) || name.size() <= prefix.size() + 1) continue;
    const char letter = name[prefix.size()];
    if (letter >= 'a' && letter <= 'z' && isNumber(name.substr(prefix.size() + 1))) return true;
  }
  return false;
}

// Returns whether it is a partition: nvme0n1p2.
bool isNvmePartition(std::string_view name) {
  if (!name.starts_with("nvme")) return false;
  const std::size_t part = name.rfind('p');
  const std::size_t space = name.rfind('n', part);
  return part != std::string_view::npos && space != std::string_view::npos && space > 4 &&
         isNumber(name.substr(4, space - 4)) && isNumber(name.substr(space + 1, part - space - 1)) &&
         isNumber(name.substr(part + 1));
}

std::uint64_t scaled(std::uint64_t value, std::uint64_t factor) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  return value > kMax / factor ? kMax : value * factor;
}

std::vector<Device> parseDevices(std::string_view text) {
  std::vector<Device> devices;
  std::string_view line;
  while (devices.size() < kMaxDevices && takeLine(text, line)) {
    const auto major = takeUnsigned(line);
    const auto minor = takeUnsigned(line);
    const std::string_view name = takeWord(line);
    if (!major || !minor || name.empty() || isNumbered(name) || isNvmePartition(name)) continue;
    Device device{toDistinctUtf8(name), *major, *minor};
    while (device.count < kColumns.size()) {
      const auto value = takeUnsigned(line);
      if (!value) break;
      device.values.at(device.count++) = *value;
    }
    if (device.count > 0) devices.push_back(std::move(device));
  }
  return devices;
}

// Returns the value of `key` in "E:ID_MODEL=Samsung_SSD".
std::string propertyOf(std::string_view text, std::string_view key) {
  std::string_view line;
  while (takeLine(text, line)) {
    if (!line.starts_with("E:")) continue;
    line.remove_prefix(2);
    if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
      return toDistinctUtf8(line.substr(key.size() + 1));
  }
  return {};
}

void writeInfo(const std::vector<Device>& devices, const UdevText& udev, Exposition& out) {
  out.family("node_disk_info", "Info of /sys/block/<block_device>.", MetricType::kGauge);
  for (const Device& device : devices) {
    const std::string text = udev(device.major, device.minor);
    out.add(MetricValue(1), {{"device", device.name},
                             {"major", std::to_string(device.major)},
                             {"minor", std::to_string(device.minor)},
                             {"model", propertyOf(text, "ID_MODEL")},
                             {"path", propertyOf(text, "ID_PATH")},
                             {"revision", propertyOf(text, "ID_REVISION")},
                             {"serial", ""},
                             {"wwn", ""}});
  }
}

}  // namespace

void writeBlockDevices(std::string_view text, const UdevText& udev, Exposition& out) {
  const std::vector<Device> devices = parseDevices(text);
  writeInfo(devices, udev, out);
  for (std::size_t at = 0; at < kColumns.size(); ++at) {
    const Column& column = kColumns.at(at);
    out.family(column.name, column.help, column.type);
    for (const Device& device : devices)
      if (at < device.count)
        out.add(MetricValue(scaled(device.values.at(at), column.factor), column.decimals),
                {{"device", device.name}});
  }
}

}  // namespace hostwire
