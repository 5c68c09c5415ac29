// Fuzz targets: one row per parser. Each checks the guarantees of its callers, besides not crashing.
#include "fuzz/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "firmware/parse_brand.h"
#include "firmware/parse_smbios.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/disks/device_table.h"
#include "linux/disks/parse_disks.h"
#include "linux/disks/parse_mounts.h"
#include "linux/disks/select_mounts.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/process/parse_process.h"
#include "linux/system/parse_cgroup.h"
#include "linux/system/parse_system.h"

namespace hostwire {
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

namespace {

void runStat(std::string_view input) {
  CpuTimes total;
  std::vector<CoreTimes> cores;
  const bool isRead = parseStat(input, total, &cores);
  CpuTimes alone;
  require(parseStat(input, alone, nullptr) == isRead, "the total is read with and without the cores");
  require(!isRead || (alone.user == total.user && alone.idle == total.idle), "and it is the same one");
}

void runMeminfo(std::string_view input) {
  const auto counters = parseMeminfo(input);
  if (!counters) return;
  require(counters->availableBytes <= counters->totalBytes, "available is at most the total");
}

void runPressure(std::string_view input) {
  const auto pressure = parsePressure(input);
  if (pressure) require(pressure->some >= 0 && pressure->some <= 100, "pressure is a percentage");
}

void runText(std::string_view input) {
  const std::string once = toValidUtf8(input);
  require(toValidUtf8(once) == once, "valid UTF-8 stays as it is");
  const std::string distinct = toDistinctUtf8(input);
  require(toValidUtf8(distinct) == distinct, "invalid bytes as escapes are valid UTF-8");
  require(toDistinctUtf8(distinct) == distinct, "escapes stay as they are");
}

void runMillidegrees(std::string_view input) {
  const auto degrees = parseMillidegrees(input);
  if (degrees) require(*degrees > -50 && *degrees <= 150, "a plausible temperature");
}

void runCpuinfo(std::string_view input) {
  nameProcessor(parseCpuinfo(input));
  parseCpuinfoSpeeds(input);
}

void runBrand(std::string_view input) {
  nameModel(input.substr(0, input.size() / 2), input.substr(input.size() / 2));
  require(cleanBrand(input).size() <= input.size(), "a clean brand is no longer");
  const auto speed = parseBrandSpeed(input);
  if (speed) require(*speed > 0 && *speed <= 1e15, "a speed");
}

void runSelectMounts(std::string_view input) {
  auto mounts = parseMountinfo(input);
  adoptReadOnly(mounts, parseMountinfo(input.substr(input.size() / 2)));
  std::size_t count = 0;
  for (const MountGroup& group : selectMounts(mounts)) {
    require(!group.empty(), "a group has a mount");
    count += group.size();
  }
  require(count <= mounts.size(), "no mount is in two groups");
}

void runStatus(std::string_view input) {
  const auto size = parseDescriptorTableSize("Name:\tnode\nFDSize:\t" + std::string(input));
  require(size.value_or(0) >= 0, "a size is not negative");
  parseDescriptorTableSize(input);
}

void runProcessName(std::string_view input) {
  const std::string_view comm = input.substr(0, 15);
  const std::string_view rest = input.substr(comm.size());
  require(fullProcessName(comm, rest, "").starts_with(comm), "a full name begins with the cut one");
  const std::string_view name = fullProcessName(comm, "", rest);
  require(name.starts_with(comm), "so does one from the arguments");
  require(name.find_first_of(" =", comm.size()) == std::string_view::npos, "no argument is in a name");
}

void runSensorNames(std::string_view input) {
  rankHwmonChip(input);
  rankThermalZone(input);
  isProcessorCooler(input);
  isOtherPart(input);
  isProcessorLabel(input);
  require(!isProcessorLabel(std::string(input) + " GPU"), "what names the GPU is not the processor's");
  rankInput(input, input);
  require(rankInput("k10temp", input).has_value(), "every input of a processor's chip is one");
}

void runMachine(std::string_view input) { require(!nodeArchOf("x" + std::string(input)).empty(), "a name"); }

void runDiskstats(std::string_view input) {
  const auto devices = parseDiskstats(input);
  const DeviceTable table(devices);
  for (const DeviceIo& device : devices) {
    const auto counted = table.find(device.name);
    require(!counted || device.name.empty() || !counted->names.empty(), "counters name their devices");
    table.find({device.device, device.device});
  }
}

void runDevicePaths(std::string_view input) {
  for (const std::string& path : devicePathsOf(input))
    require(path.starts_with("/dev/"), "a path of a device");
}

// The input is both texts: the place of the process, and the mounts.
void runCgroup(std::string_view input) {
  const auto mounts = parseMountinfo(input);
  for (const char* controller : {"memory", "cpu", "cpuset"})
    if (const auto place = findCgroup(input, controller))
      for (const std::string& folder : cgroupFolders(*place, controller, mounts))
        require(folder.starts_with('/'), "a folder under a mount point");
}

std::vector<FuzzTarget> linuxTargets() {
  return {
      {"stat", "/stat", runStat},
      {"meminfo", "/meminfo", runMeminfo},
      {"arcstats", "/arcstats", call<parseShrinkableArc>},
      {"loadavg", "/loadavg", call<parseLoadavg>},
      {"uptime", "", call<parseUptime>},
      {"pressure", "/pressure/cpu", runPressure},
      {"integer", "/ifindex", call<parseInteger>},
      {"cpuinfo", "/cpuinfo", runCpuinfo},
      {"cpulist", "/online", call<parseCpuList>},
      {"millidegrees", "_input", runMillidegrees},
      {"sensor-names", "/name", runSensorNames},
      {"mountinfo", "/mountinfo", call<parseMountinfo>},
      {"select-mounts", "/mountinfo", runSelectMounts},
      {"label-link", "", call<parseLabelLink>},
      {"device-number", "", call<parseDeviceNumber>},
      {"device-paths", "", runDevicePaths},
      {"diskstats", "/diskstats", runDiskstats},
      {"os-release", "/os-release", call<parseOsRelease>},
      {"brand", "", runBrand},
      {"dmi", "/DMI", call<parseDmiMemoryModules>},
      {"process-status", "", runStatus},
      {"process-stat", "/stat", call<parseProcessStat>},
      {"process-io", "", call<parseProcessIo>},
      {"process-name", "/cmdline", runProcessName},
      {"cmdline", "/cmdline", call<parseCmdline>},
      {"passwd", "", call<parsePasswd>},
      {"utf8", "/mountinfo", runText},
      {"machine", "", runMachine},
      {"cgroup", "/self/cgroup", runCgroup},
      {"cgroup-memory", "/memory.max", call<parseMemoryLimit>},
      {"cgroup-cpu", "/cpu.max", call<parseCpuMax>},
      {"cgroup-stat", "/cpu.stat", call<parseThrottling>},
  };
}

}  // namespace

const std::vector<FuzzTarget>& fuzzTargets() {
  static const std::vector<FuzzTarget> targets = [] {
    std::vector<FuzzTarget> all = linuxTargets();
    for (const auto* others :
         {&networkTargets(), &deviceTargets(), &windowsTargets(), &driveTargets(), &metricsTargets()})
      all.insert(all.end(), others->begin(), others->end());
    return all;
  }();
  return targets;
}

}  // namespace hostwire
