// Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst; scheduler/sched-bwc.rst.
#include "linux/system/cgroup.h"

#include <algorithm>
#include <iterator>

#include "linux/cpu/parse_cpu.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/system/parse_cgroup.h"

namespace hostwire {
namespace {

using Names = std::vector<const char*>;

std::vector<CgroupFile> filesIn(const std::string& folder, const Names& names) {
  std::vector<CgroupFile> files;
  for (const char* name : names) files.emplace_back(folder + "/" + name);
  return files;
}

void lookFor(std::vector<CgroupFile>& files) {
  for (CgroupFile& file : files) file.look();
}

}  // namespace

void CgroupFile::look() { isThere_ = isThere_ || mayBePresent(file_.path()); }

std::string_view CgroupFile::read(std::string& buffer) {
  return isThere_ ? file_.readShortRecords(buffer) : std::string_view{};
}

// Above memory.high the kernel reclaims memory and slows the processes down, above memory.max it kills one.
CgroupMemory::CgroupMemory(const std::vector<std::string>& folders, bool isUnified) {
  const Names limits = isUnified ? Names{"memory.max", "memory.high"} : Names{"memory.limit_in_bytes"};
  const char* const used = isUnified ? "memory.current" : "memory.usage_in_bytes";
  for (const std::string& folder : folders)
    levels_.push_back({filesIn(folder, limits), CgroupFile(folder + "/" + used)});
  look();
}

void CgroupMemory::look() {
  for (Level& level : levels_) {
    lookFor(level.limits);
    level.used.look();
  }
}

void CgroupMemory::read(LimitCounters& counters, std::string& buffer) {
  std::optional<std::uint64_t> lowest;
  Level* binding = nullptr;
  for (Level& level : levels_) {
    for (CgroupFile& file : level.limits) {
      const auto limit = parseMemoryLimit(file.read(buffer));
      // The outer one of two equal limits binds: other groups may use of it too.
      if (!limit || (lowest && *limit > *lowest)) continue;
      lowest = limit;
      binding = &level;
    }
  }
  if (binding == nullptr) return;
  counters.memoryUsedBytes = parseMemoryLimit(binding->used.read(buffer));
  counters.memoryBytes = lowest;
}

// Version 2 has the effective list since Linux 5.0, version 1 since 3.17.
CgroupCpuset::CgroupCpuset(const std::vector<std::string>& folders, bool isUnified, std::string online)
    : online_(std::move(online)) {
  const Names names =
      isUnified ? Names{"cpuset.cpus.effective"} : Names{"cpuset.effective_cpus", "cpuset.cpus"};
  for (const std::string& folder : folders)
    for (CgroupFile& file : filesIn(folder, names)) levels_.push_back(std::move(file));
  look();
}

void CgroupCpuset::look() { lookFor(levels_); }

// A group may use a part of what its ancestors may, unless it is a partition: then they have lost its
// processors, and nothing is common. Without the controller only an ancestor has a list. All that the machine
// has is not a limit.
void CgroupCpuset::read(LimitCounters& counters, std::string& buffer) {
  std::vector<std::uint32_t> allowed;
  for (CgroupFile& level : levels_) {
    const auto listed = parseCpuList(level.read(buffer));
    std::vector<std::uint32_t> common;
    std::set_intersection(allowed.begin(), allowed.end(), listed.begin(), listed.end(),
                          std::back_inserter(common));
    if (allowed.empty() || !common.empty()) allowed = allowed.empty() ? listed : common;
  }
  const std::size_t online = parseCpuList(online_.readIfPresent(buffer)).size();
  if (allowed.empty() || (online > 0 && allowed.size() >= online)) return;
  const auto cpus = static_cast<double>(allowed.size());
  counters.cpus = std::min(counters.cpus.value_or(cpus), cpus);
}

CgroupCpu::CgroupCpu(const std::vector<std::string>& folders, bool isUnified) {
  const Names quota = isUnified ? Names{"cpu.max"} : Names{"cpu.cfs_quota_us", "cpu.cfs_period_us"};
  for (const std::string& folder : folders)
    levels_.push_back({folder, filesIn(folder, quota), CgroupFile(folder + "/cpu.stat")});
  look();
}

void CgroupCpu::look() {
  for (Level& level : levels_) {
    lookFor(level.quota);
    level.stat.look();
  }
}

std::optional<double> CgroupCpu::readQuota(Level& level, std::string& buffer) {
  if (level.quota.size() == 1) return parseCpuMax(level.quota[0].read(buffer));
  const auto quotaUs = parseInteger(level.quota[0].read(buffer));
  return cpusOfQuota(quotaUs, parseInteger(level.quota[1].read(buffer)));
}

// Only the statistics of the level that binds are read: for cpu.stat of version 2 the kernel sums the counts
// of all processors in all cgroups below.
void CgroupCpu::read(LimitCounters& counters, std::string& buffer) {
  std::optional<double> lowest;
  Level* binding = nullptr;
  for (Level& level : levels_) {
    const auto cpus = readQuota(level, buffer);
    if (!cpus || (lowest && *cpus > *lowest)) continue;
    lowest = cpus;
    binding = &level;
  }
  if (binding == nullptr) return;
  counters.throttling = parseThrottling(binding->stat.read(buffer));
  if (counters.throttling) counters.throttling->group = toValidUtf8(binding->folder);
  counters.cpus = lowest;
}

}  // namespace hostwire
