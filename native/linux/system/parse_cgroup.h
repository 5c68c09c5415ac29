// Parsers of control groups, versions 1 and 2 (cgroups(7)): pure, never throw, accept anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/resource_limits.h"
#include "linux/disks/parse_mounts.h"

namespace hostwire {

// The place of a process in the hierarchy that has a controller. A controller is in one hierarchy only.
struct CgroupPlace {
  bool isUnified = false;  // version 2
  std::string path;        // raw bytes; "/" is the root of the hierarchy or of the cgroup namespace
};

// Parses /proc/PID/cgroup: the hierarchy of version 1 that lists the controller, otherwise that of version 2.
std::optional<CgroupPlace> findCgroup(std::string_view text, std::string_view controller);

// Returns the folders of the cgroup and of its ancestors, innermost first, as far up as a mount shows them:
// the root of a mount in a container is often the container's own cgroup. Empty if no mount shows the cgroup.
std::vector<std::string> cgroupFolders(const CgroupPlace& place, std::string_view controller,
                                       const std::vector<Mount>& mounts);

// Parses memory.max, memory.high, memory.limit_in_bytes. Nothing without a limit: "max", or the largest
// multiple of a page in 63 bits.
std::optional<std::uint64_t> parseMemoryLimit(std::string_view text);

// Returns how many processors a quota is worth. Nothing without a quota, which version 1 writes as -1.
std::optional<double> cpusOfQuota(std::optional<std::int64_t> quotaUs, std::optional<std::int64_t> periodUs);

// Parses cpu.max: quota and period, or "max" and a period.
std::optional<double> parseCpuMax(std::string_view text);

// Parses cpu.stat. Nothing if the cgroup has no quota to count for, like the root.
std::optional<CpuThrottling> parseThrottling(std::string_view text);

}  // namespace hostwire
