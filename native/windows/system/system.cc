// The facts of a Windows machine.
#include "host/system.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "firmware/parse_brand.h"
#include "firmware/parse_smbios.h"
#include "windows/network/interfaces.h"
#include "windows/system/parse_windows.h"
#include "windows/win32/registry.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

constexpr const wchar_t* kVersionKey = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
constexpr const wchar_t* kProcessorKey = L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
constexpr const wchar_t* kFirmwareKey = L"HARDWARE\\DESCRIPTION\\System\\BIOS";
constexpr DWORD kRawSmbios = 0x52534D42;  // 'RSMB'

// Returns Node's name of the machine's architecture, whatever this process was built for.
std::string readArch() {
  SYSTEM_INFO info{};
  GetNativeSystemInfo(&info);
  switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64: return "x64";
    case PROCESSOR_ARCHITECTURE_ARM64: return "arm64";
    case PROCESSOR_ARCHITECTURE_ARM: return "arm";
    default: return "ia32";
  }
}

// GetVersionEx returns what the program's manifest allows; this returns the running version.
OsInfo readOs() {
  using RtlGetVersion = LONG(WINAPI*)(OSVERSIONINFOEXW*);
  OSVERSIONINFOEXW raw{};
  raw.dwOSVersionInfoSize = sizeof raw;
  if (const auto query = findFunction<RtlGetVersion>(L"ntdll.dll", "RtlGetVersion")) query(&raw);
  WindowsVersion version;
  version.major = raw.dwMajorVersion;
  version.minor = raw.dwMinorVersion;
  version.build = raw.dwBuildNumber;
  version.isServer = raw.wProductType != VER_NT_WORKSTATION;
  version.revision = readRegistryNumber(kVersionKey, L"UBR").value_or(0);
  version.productName = readRegistryText(kVersionKey, L"ProductName");
  version.displayVersion = readRegistryText(kVersionKey, L"DisplayVersion");
  if (version.displayVersion.empty()) version.displayVersion = readRegistryText(kVersionKey, L"ReleaseId");
  OsInfo os = nameWindows(version);
  os.arch = readArch();
  return os;
}

std::uint32_t countPhysicalCores() {
  DWORD bytes = 0;
  GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &bytes);
  std::vector<std::byte> buffer(bytes);
  auto* const first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data());
  if (bytes == 0 || GetLogicalProcessorInformationEx(RelationProcessorCore, first, &bytes) == 0) return 0;
  std::uint32_t cores = 0;
  for (DWORD at = 0; at < bytes; ++cores) {
    const auto* entry = reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data() + at);
    if (entry->Size == 0) break;
    at += entry->Size;
  }
  return cores;
}

CpuInfo readCpu() {
  const std::string brand = readRegistryText(kProcessorKey, L"ProcessorNameString");
  CpuInfo cpu;
  cpu.manufacturer = manufacturerOf(readRegistryText(kProcessorKey, L"VendorIdentifier"));
  cpu.brand = cleanBrand(brand);
  cpu.cores = std::max<std::uint32_t>(1, GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  const std::uint32_t physical = countPhysicalCores();
  cpu.physicalCores = physical == 0 ? cpu.cores : std::min(physical, cpu.cores);
  cpu.baseSpeedHz = parseBrandSpeed(brand);
  // Measured by the kernel at its start: slightly off the round number.
  const auto mhz = readRegistryNumber(kProcessorKey, L"~MHz");
  if (!cpu.baseSpeedHz && mhz && *mhz > 0) cpu.baseSpeedHz = *mhz * 1e6;
  return cpu;
}

std::string readHostname() {
  std::array<wchar_t, 256> name{};
  auto length = static_cast<DWORD>(name.size());
  if (GetComputerNameExW(ComputerNameDnsHostname, name.data(), &length) == 0) return {};
  return toUtf8({name.data(), length});
}

std::optional<std::uint32_t> readMemorySlots() {
  const UINT bytes = GetSystemFirmwareTable(kRawSmbios, 0, nullptr, 0);
  std::string table(bytes, '\0');
  const UINT read = GetSystemFirmwareTable(kRawSmbios, 0, table.data(), bytes);
  return parseDmiMemoryModules(findSmbiosTable(std::string_view(table).substr(0, read)));
}

// Wine lacks this function; there the route's own metric decides.
ULONG readInterfaceMetric(NET_LUID luid, ADDRESS_FAMILY family) {
  using GetEntry = DWORD(WINAPI*)(MIB_IPINTERFACE_ROW*);
  static const auto getEntry = findFunction<GetEntry>(L"iphlpapi.dll", "GetIpInterfaceEntry");
  MIB_IPINTERFACE_ROW link{};
  link.Family = family;
  link.InterfaceLuid = luid;
  return getEntry != nullptr && getEntry(&link) == NO_ERROR ? link.Metric : 0;
}

// Returns the cheapest route: its own metric plus that of its interface.
std::optional<NET_LUID> findDefaultRoute(ADDRESS_FAMILY family) {
  MIB_IPFORWARD_TABLE2* raw = nullptr;
  if (GetIpForwardTable2(family, &raw) != NO_ERROR) return std::nullopt;
  const std::unique_ptr<MIB_IPFORWARD_TABLE2, TableDeleter> table(raw);
  std::optional<NET_LUID> cheapest;
  ULONG64 least = 0;
  for (ULONG at = 0; at < table->NumEntries; ++at) {
    const MIB_IPFORWARD_ROW2& route = table->Table[at];
    if (route.DestinationPrefix.PrefixLength != 0 || route.Loopback != 0) continue;
    const ULONG64 metric = ULONG64{route.Metric} + readInterfaceMetric(route.InterfaceLuid, family);
    if (cheapest && metric >= least) continue;
    cheapest = route.InterfaceLuid;
    least = metric;
  }
  return cheapest;
}

std::optional<DefaultRouteInfo> readDefaultRoute() {
  auto luid = findDefaultRoute(AF_INET);
  if (!luid) luid = findDefaultRoute(AF_INET6);
  MIB_IF_ROW2 row{};
  if (!luid) return std::nullopt;
  row.InterfaceLuid = *luid;
  if (GetIfEntry2(&row) != NO_ERROR) return std::nullopt;
  DefaultRouteInfo route;
  route.name = toUtf8(row.Alias);
  route.mac = macOf(row);
  for (const InterfaceAddress& address : readInterfaceAddresses()) {
    if (address.index != row.InterfaceIndex || address.isLocal) continue;
    auto& field = address.isIpv6 ? route.ipv6 : route.ipv4;
    if (!field) field = address.text;
  }
  return route;
}

}  // namespace

SystemInfo readSystem(const Roots&) {
  SystemInfo system;
  system.hostname = readHostname();
  system.os = readOs();
  system.cpu = readCpu();
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status) != 0) system.memoryTotalBytes = status.ullTotalPhys;
  system.memorySlots = readMemorySlots();
  system.network = readDefaultRoute();
  system.model = nameModel(readRegistryText(kFirmwareKey, L"SystemManufacturer"),
                           readRegistryText(kFirmwareKey, L"SystemProductName"));
  return system;
}

}  // namespace hostwire
