// Sums the counters of /proc/diskstats per filesystem. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/disks.h"
#include "linux/disks/parse_disks.h"
#include "linux/disks/parse_mounts.h"

namespace hostwire {

struct CountedDevices {
  DiskIo io;          // their sum; busyMs: the mean of the devices that filesystems name
  std::string names;  // the counted devices: a rate needs two readings with the same names
};

// The text that `devices` were parsed from must outlive it.
class DeviceTable {
 public:
  explicit DeviceTable(std::vector<DeviceIo> devices);

  // Leaves out devices that are not in the table; absent when none is, or when the counters of one of them
  // are unknown (countersOf).
  std::optional<CountedDevices> find(const std::vector<DeviceNumber>& numbers) const;
  std::optional<CountedDevices> find(std::string_view name) const;

 private:
  const DeviceIo* findNamed(std::string_view name) const;
  std::optional<CountedDevices> sumOf(const std::vector<const DeviceIo*>& devices) const;
  std::optional<CountedDevices> countersOf(const DeviceIo& device) const;

  std::vector<DeviceIo> devices_;  // by number
};

}  // namespace hostwire
