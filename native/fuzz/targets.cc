// The fuzzing surface: one row per parser. Each checks what its callers rely on, besides not crashing.
#include "fuzz/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "firmware/parse_brand.h"
#include "firmware/parse_smbios.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/disks/parse_disks.h"
#include "linux/disks/parse_mounts.h"
#include "linux/disks/select_mounts.h"
#include "linux/gpu/parse_gpu.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/network/netlink/parse_link.h"
#include "linux/network/netlink/parse_netlink.h"
#include "linux/network/netlink/parse_nl80211.h"
#include "linux/network/parse_ipv4.h"
#include "linux/network/parse_network.h"
#include "linux/network/parse_route.h"
#include "linux/process/parse_process.h"
#include "linux/sensors/parse_battery.h"
#include "linux/sensors/parse_sensors.h"
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

void runGpuNumbers(std::string_view input) {
  parsePciId(input);
  isSuspended(input);
  const auto percent = parsePercent(input);
  if (percent) require(*percent >= 0 && *percent <= 100, "a percentage");
  const auto watts = parseScaled(input, 1e6, 1e4);
  if (watts) require(*watts >= 0 && *watts <= 1e4, "in its bounds");
}

void runPciIds(std::string_view input) {
  for (const std::uint32_t device : {0x2684U, 0x73bfU, 0x56a0U})
    for (const std::uint32_t vendor : {0x10deU, 0x1002U, 0x8086U}) findPciName(input, vendor, device);
}

void runAmdgpuIds(std::string_view input) {
  const std::string name = findAmdgpuName(input, 0x73ff, 0xc3);
  require(name.find('\n') == std::string::npos, "a name is of one line");
}

void runDrmClient(std::string_view input) {
  const auto client = parseDrmClient(input);
  if (!client) return;
  require(client->engines.size() <= 64, "a text makes no more engines than any driver has");
  auto later = *client;
  for (DrmEngine& engine : later.engines)
    if (engine.busyNs) *engine.busyNs += 1000;
  const double load = drmLoadBetween({*client}, {later}, 1e9);
  require(load >= 0 && load <= 100, "a load is a percentage");
  require(drmLoadBetween({later}, {*client, *client}, 0) == 0, "no time, no load");
}

void runGpuQueues(std::string_view input) {
  const auto queues = parseGpuQueues(input);
  require(queues.size() <= 64, "a text makes no more queues than any driver has");
  auto later = queues;
  for (GpuQueue& queue : later) queue.readAtNs += 1000;
  const auto load = queueLoadBetween(queues, later);
  if (load) require(*load >= 0 && *load <= 100, "a load is a percentage");
}

void runGpuLabels(std::string_view input) {
  const auto chosen = chooseGpuTemperature({std::string(input), "vram", std::string(input)});
  require(!chosen || *chosen != 1, "the memory's temperature is not the device's");
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
  chooseInputs(input, {std::string(input), "Tdie", std::string(input)});
  require(!chooseInputs("k10temp", {std::string(input), "fan"}).empty(),
          "where none is preferred, all are taken");
}

void runSensorValue(std::string_view input) {
  for (const auto kind :
       {SensorKind::kTemperature, SensorKind::kFan, SensorKind::kVoltage, SensorKind::kPower}) {
    const auto value = parseSensorValue(kind, input);
    if (value) require(*value >= -1000 && *value <= 100'000, "what a sensor can measure");
  }
}

void runSensorFile(std::string_view input) {
  const auto file = parseSensorFileName(input);
  if (file) require(input.starts_with(sensorPrefix(file->kind, 0).substr(0, 2)), "the kind is in the name");
  const std::string name = cleanName(input);
  require(cleanName(name) == name, "a clean name stays as it is");
  isPackageZone(input.substr(0, input.size() / 2), input.substr(input.size() / 2));
  isSystemBattery(input, input);
}

// The lines are the names; some are equal.
void runSensorLabels(std::string_view input) {
  std::vector<ChipNames> chips;
  std::vector<InputNames> inputs;
  std::string_view rest = input.substr(0, 4096);
  for (std::size_t end = 0; end != std::string_view::npos;
       rest.remove_prefix(std::min(rest.size(), end + 1))) {
    end = rest.find('\n');
    const std::string name(rest.substr(0, end));
    chips.push_back({name, "0"});
    inputs.push_back({"temp" + std::to_string(inputs.size()), name});
  }
  const auto chipNames = nameChips(chips);
  const auto inputNames = nameInputs(inputs);
  require(std::set(chipNames.begin(), chipNames.end()).size() == chips.size(), "no chip's name comes twice");
  require(std::set(inputNames.begin(), inputNames.end()).size() == inputs.size(),
          "no input's name comes twice");
}

void runPowerSupply(std::string_view input) {
  const BatteryCounters battery = parsePowerSupply(input).battery;
  if (battery.percent) require(*battery.percent >= 0 && *battery.percent <= 100, "a share of the charge");
  for (const auto& value : {battery.energyWh, battery.energyFullWh, battery.chargeAh, battery.voltageVolts,
                            battery.powerWatts, battery.currentAmps, battery.secondsToEmpty})
    if (value) require(*value >= 0 && *value <= 1e7, "what a battery can have");
}

void runNetlink(std::string_view input) {
  for (const std::uint32_t sequence : {0U, 1U}) {
    const NetlinkPart part = parseNetlink(input, sequence);
    require(part.error >= 0 && part.error < 4096, "an errno");
    for (const std::string_view payload : part.payloads) {
      const std::string_view attributes = payload.substr(std::min<std::size_t>(payload.size(), 4));
      parseFamilyId(attributes);
      parseWifiInterface(attributes);
      parseStationSignal(attributes);
    }
  }
  const auto signal = parseStationSignal(input);
  if (signal) require(*signal < 0 && *signal >= -128, "dBm of a receiver");
}

// A datagram of a dump, or one message.
void runLinkMessage(std::string_view input) {
  auto messages = parseNetlink(input, 1).payloads;
  messages.push_back(input);
  std::vector<InterfaceCounters> links(1);
  for (const std::string_view message : messages) {
    updateCounters(links, message);
    const auto link = parseLink(message);
    if (!link) continue;
    require(!link->counters.name.empty() && link->counters.index > 0, "a link has a name and an index");
    links.front() = link->counters;
  }
}

void runLink(std::string_view input) {
  LinkFacts facts;
  facts.devtype = findUeventValue(input, "DEVTYPE");
  facts.type = parseInteger(input);
  for (const bool is : {false, true}) {
    facts.hasDevice = facts.isWireless = is;
    classifyLink(facts);
  }
  findUeventValue(input, "");
}

void runMachine(std::string_view input) { require(!nodeArchOf("x" + std::string(input)).empty(), "a name"); }

void runIpv4(std::string_view input) {
  const auto addresses = parseLocalAddresses(input);
  const auto networks = parseConnectedNetworks(input);
  require(placeAddresses(addresses, networks).size() <= addresses.size(), "no address is placed twice");
  placeAddresses({0, 0x7F000001, 0xC0000207, UINT32_MAX}, networks);
}

// The input is both texts: where the process is, and what is mounted.
void runCgroup(std::string_view input) {
  const auto mounts = parseMountinfo(input);
  for (const char* controller : {"memory", "cpu"})
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
      {"process-status", "", runStatus},
      {"gpu-numbers", "/gpu_busy_percent", runGpuNumbers},
      {"pci-id", "/vendor", runGpuNumbers},
      {"runtime-status", "/runtime_status", runGpuNumbers},
      {"pci-ids", "/pci.ids", runPciIds},
      {"amdgpu-ids", "/amdgpu.ids", runAmdgpuIds},
      {"drm-client", "/fdinfo/9", runDrmClient},
      {"drm-client-xe", "/fdinfo/19", runDrmClient},
      {"gpu-queues", "", runGpuQueues},
      {"gpu-model", "", call<findModel>},
      {"gpu-labels", "_label", runGpuLabels},
      {"process-stat", "/stat", call<parseProcessStat>},
      {"process-name", "/cmdline", runProcessName},
      {"cmdline", "/cmdline", call<parseCmdline>},
      {"passwd", "", call<parsePasswd>},
      {"utf8", "/mountinfo", runText},
      {"fib-trie", "/fib_trie", runIpv4},
      {"connected-networks", "/net/route", runIpv4},
      {"sensor-value", "_input", runSensorValue},
      {"sensor-file", "", runSensorFile},
      {"sensor-labels", "/name", runSensorLabels},
      {"link", "/uevent", runLink},
      {"machine", "", runMachine},
      {"power-supply", "/uevent", runPowerSupply},
      {"cgroup", "/self/cgroup", runCgroup},
      {"cgroup-memory", "/memory.max", call<parseMemoryLimit>},
      {"cgroup-cpu", "/cpu.max", call<parseCpuMax>},
      {"cgroup-stat", "/cpu.stat", call<parseThrottling>},
      {"netlink-station", "/get-station", runNetlink},
      {"netlink-interface", "/get-interface", runNetlink},
      {"netlink-family", "/get-family", runNetlink},
      {"netlink-link", "/get-link", runLinkMessage},
  };
}

}  // namespace

const std::vector<FuzzTarget>& fuzzTargets() {
  static const std::vector<FuzzTarget> targets = [] {
    std::vector<FuzzTarget> all = linuxTargets();
    for (const auto* others : {&windowsTargets(), &driveTargets()})
      all.insert(all.end(), others->begin(), others->end());
    return all;
  }();
  return targets;
}

}  // namespace hostwire
