// Facts about the machine: names, models and sizes that do not change from one second to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

struct OsInfo {
  std::string name;     // "Debian GNU/Linux", "Windows 11 Pro"
  std::string version;  // "12 (bookworm)", "23H2"
  std::string build;    // the kernel's release, the Windows build number
  std::string arch;     // as Node spells it: x64, arm64, …
};

struct CpuInfo {
  std::string manufacturer;
  std::string brand;
  std::uint32_t cores = 0;  // logical processors that are online
  std::uint32_t physicalCores = 0;
  std::optional<double> baseSpeedHz;
};

struct DefaultRouteInfo {
  std::string name;
  std::optional<std::string> mac;
  std::optional<std::string> ipv4;
  std::optional<std::string> ipv6;
};

struct SystemInfo {
  std::string hostname;
  OsInfo os;
  CpuInfo cpu;
  std::uint64_t memoryTotalBytes = 0;
  std::optional<std::uint32_t> memorySlots;  // populated modules, where the firmware reports them
  std::optional<DefaultRouteInfo> network;   // the interface of the default route
  std::optional<std::string> model;          // maker and product, as the firmware names them
};

// May read dozens of files: call it off the main thread. Throws HostError only when nothing at all can be
// read.
SystemInfo readSystem(const Roots& roots);

}  // namespace hostwire
