// The fuzzing surface: one row a parser. Each checks what its callers rely on, beyond not crashing.
#include "fuzz/targets.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "linux/parse.h"
#include "linux/parse_cpu.h"
#include "linux/parse_disks.h"
#include "linux/parse_mounts.h"
#include "linux/parse_network.h"
#include "linux/parse_process.h"
#include "linux/parse_route.h"
#include "linux/parse_system.h"
#include "linux/select_mounts.h"
#include "linux/text.h"

namespace hostwire {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void runStat(std::string_view input) {
  CpuTimes total;
  std::vector<CoreTimes> cores;
  parseStat(input, total, &cores);
  parseStat(input, total, nullptr);
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
  cleanBrand(input);
  parseBrandSpeed(input);
}

void runSelectMounts(std::string_view input) {
  const auto mounts = parseMountinfo(input);
  std::size_t count = 0;
  for (const MountGroup& group : selectMounts(mounts)) {
    require(!group.empty(), "a group has a mount");
    count += group.size();
  }
  require(count <= mounts.size(), "no mount is in two groups");
}

void runProcessName(std::string_view input) {
  const std::string_view comm = input.substr(0, 15);
  const std::string_view name = fullProcessName(comm, input.substr(comm.size()));
  require(name.starts_with(comm), "a full name begins with the cut one");
}

template <auto Parse>
void call(std::string_view input) {
  static_cast<void>(Parse(input));
}

void runSensorNames(std::string_view input) {
  rankHwmonChip(input);
  rankThermalZone(input);
  chooseInputs({std::string(input), "Tdie", std::string(input)});
}

}  // namespace

const std::vector<FuzzTarget>& fuzzTargets() {
  static const std::vector<FuzzTarget> targets = {
      {"stat", "/stat", runStat},
      {"meminfo", "/meminfo", runMeminfo},
      {"loadavg", "/loadavg", call<parseLoadavg>},
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
      {"diskstats", "/diskstats", call<parseDiskstats>},
      {"net-dev", "/net/dev", call<parseNetDev>},
      {"if-inet6", "/if_inet6", call<parseIfInet6>},
      {"wireless", "/wireless", call<parseWireless>},
      {"route", "/net/route", call<parseDefaultRoute>},
      {"ipv6-route", "/ipv6_route", call<parseDefaultRouteIpv6>},
      {"mac", "/address", call<parseMac>},
      {"os-release", "/os-release", call<parseOsRelease>},
      {"brand", "", runBrand},
      {"dmi", "/DMI", call<parseDmiMemoryModules>},
      {"process-stat", "/stat", call<parseProcessStat>},
      {"process-name", "/cmdline", runProcessName},
      {"cmdline", "/cmdline", call<parseCmdline>},
      {"passwd", "", call<parsePasswd>},
      {"utf8", "/mountinfo", runText},
  };
  return targets;
}

}  // namespace hostwire
