// The facts of a Linux machine.
#include "host/system.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <set>

#include "firmware/parse_brand.h"
#include "firmware/parse_smbios.h"
#include "host/ask_within.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/network/addresses.h"
#include "linux/network/links.h"
#include "linux/network/parse_route.h"
#include "linux/system/parse_system.h"

namespace hostwire {
namespace {

std::string readText(const std::string& path) {
  std::string buffer;
  KeptFile file(path);
  return std::string(file.readIfPresent(buffer));
}

std::string readHostname(const Roots& roots) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (roots.isDefault() && gethostname(name.data(), name.size() - 1) == 0) return toValidUtf8(name.data());
  return toValidUtf8(readSmallFile(roots.proc + "/sys/kernel/hostname"));
}

OsInfo readOs(const Roots& roots) {
  std::string text = readText(roots.files + "/etc/os-release");
  if (text.empty()) text = readText(roots.files + "/usr/lib/os-release");
  const OsRelease release = parseOsRelease(text);
  utsname kernel{};
  uname(&kernel);
  std::string build = readSmallFile(roots.proc + "/sys/kernel/osrelease");
  if (build.empty()) build = static_cast<const char*>(kernel.release);
  return {toValidUtf8(release.name), toValidUtf8(release.version), toValidUtf8(build),
          nodeArchOf(static_cast<const char*>(kernel.machine))};
}

// Identifies a core by its hardware threads' siblings: core ids alone repeat in each package, die or cluster,
// and which of these a kernel numbers has changed.
std::string coreKeyOf(const std::string& topology) {
  std::string siblings = readSmallFile(topology + "/thread_siblings_list");
  if (!siblings.empty()) return siblings;
  std::string core = readSmallFile(topology + "/core_id");
  if (core.empty()) return core;
  return readSmallFile(topology + "/physical_package_id") + ":" + core;
}

std::uint32_t countPhysicalCores(const std::string& cpuFolder, const std::vector<std::uint32_t>& online,
                                 const Cpuinfo& info) {
  std::set<std::string> cores;
  for (const std::uint32_t index : online) {
    const std::string key = coreKeyOf(cpuFolder + "cpu" + std::to_string(index) + "/topology");
    if (!key.empty()) cores.insert(key);
  }
  if (cores.empty()) {
    for (const CpuinfoProcessor& processor : info.processors)
      if (processor.coreId)
        cores.insert(std::to_string(processor.packageId.value_or(0)) + ":" +
                     std::to_string(*processor.coreId));
  }
  return static_cast<std::uint32_t>(cores.size());
}

// Returns the highest sustained speed without boost. cpuinfo_max_freq includes boost, and under a governor
// the current speed is not the base.
std::optional<double> readBaseSpeed(const std::string& cpuFolder, std::uint32_t firstCore,
                                    const Cpuinfo& info, std::string_view cpuinfoText) {
  const std::string cpufreq = cpuFolder + "cpu" + std::to_string(firstCore) + "/cpufreq";
  const auto khz = parseInteger(readSmallFile(cpufreq + "/base_frequency"));
  if (khz && *khz > 0) return static_cast<double>(*khz) * 1000;
  const auto ofBrand = parseBrandSpeed(info.modelName);
  if (ofBrand || isPresent(cpufreq)) return ofBrand;
  const auto speeds = parseCpuinfoSpeeds(cpuinfoText);
  if (speeds.empty()) return std::nullopt;
  return speeds.front().hz;
}

CpuInfo readCpu(const Roots& roots) {
  const std::string cpuFolder = roots.sys + "/devices/system/cpu/";
  const std::string text = readText(roots.proc + "/cpuinfo");
  const Cpuinfo info = parseCpuinfo(text);
  const auto online = parseCpuList(readSmallFile(cpuFolder + "online"));
  const ProcessorName name = nameProcessor(info);
  const std::size_t cores = std::max<std::size_t>(1, online.empty() ? info.processors.size() : online.size());
  CpuInfo cpu;
  cpu.manufacturer = toValidUtf8(name.manufacturer);
  cpu.brand = toValidUtf8(name.brand);
  cpu.cores = static_cast<std::uint32_t>(cores);
  const std::uint32_t physical = countPhysicalCores(cpuFolder, online, info);
  cpu.physicalCores = physical == 0 ? cpu.cores : std::min(physical, cpu.cores);
  cpu.baseSpeedHz = readBaseSpeed(cpuFolder, online.empty() ? 0 : online.front(), info, text);
  return cpu;
}

// Time limit: the kernel holds the lock of all interfaces while it sets one up, for seconds if a driver is
// slow. The addresses are then missing.
constexpr std::chrono::seconds kAddressPatience{1};

std::optional<DefaultRouteInfo> readDefaultRoute(const Roots& roots) {
  const std::string net = netFolder(roots);
  const std::string ipv4Routes = readText(net + "/route");
  const std::string ipv6Routes = readText(net + "/ipv6_route");
  auto found = parseDefaultRoute(ipv4Routes);
  if (!found) found = parseDefaultRouteIpv6(ipv6Routes);
  if (!found) return std::nullopt;
  const std::string rawName(*found);
  DefaultRouteInfo route;
  route.name = toValidUtf8(rawName);
  route.mac = parseMac(readSmallFile(linkFolder(roots, rawName) + "/address"));
  const auto addresses =
      askWithin<std::vector<InterfaceAddress>>(kAddressPatience, [roots] { return readAddresses(roots); });
  for (const InterfaceAddress& address : addresses.value_or(std::vector<InterfaceAddress>{})) {
    if (address.name != rawName || address.isLinkLocal || address.isLoopback) continue;
    auto& field = address.isIpv6 ? route.ipv6 : route.ipv4;
    if (!field) field = address.text;
  }
  return route;
}

// Any user may read these. An ARM board without DMI has its model in the device tree, with a NUL at its end.
std::optional<std::string> readModel(const Roots& roots) {
  const std::string dmi = roots.sys + "/class/dmi/id/";
  const std::string product = toValidUtf8(readSmallFile(dmi + "product_name"));
  if (!product.empty()) return nameModel(toValidUtf8(readSmallFile(dmi + "sys_vendor")), product);
  return nameModel({}, toValidUtf8(readText(roots.proc + "/device-tree/model").c_str()));
}

}  // namespace

SystemInfo readSystem(const Roots& roots) {
  SystemInfo system;
  system.hostname = readHostname(roots);
  system.os = readOs(roots);
  system.cpu = readCpu(roots);
  const auto memory = parseMeminfo(readText(roots.proc + "/meminfo"));
  if (memory) system.memoryTotalBytes = memory->totalBytes;
  // Only root may read it.
  system.memorySlots = parseDmiMemoryModules(readText(roots.sys + "/firmware/dmi/tables/DMI"));
  system.network = readDefaultRoute(roots);
  system.model = readModel(roots);
  return system;
}

}  // namespace hostwire
