// The network tables of Windows, converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/network.h"
#include "windows/win32/win32.h"
// After windows.h, and in this order.
#include <ws2tcpip.h>

#include <iphlpapi.h>

namespace hostwire {

struct InterfaceAddress {
  std::uint32_t index = 0;
  std::string text;  // "192.0.2.7", "2001:db8::7"
  bool isIpv6 = false;
  bool isLocal = false;  // of the link or the loopback: not reachable from other networks
};

InterfaceCounters countersOf(const MIB_IF_ROW2& row, bool withDetail);

// Rows that repeat others (filters), and those of adapters without hardware that are not in use, are left
// out.
bool isShown(const MIB_IF_ROW2& row);

// All rows of GetIfTable2. Throws HostError.
std::vector<MIB_IF_ROW2> readInterfaceTable();

// In the system's order. Throws HostError.
std::vector<InterfaceAddress> readInterfaceAddresses();

// "02:00:5e:10:00:00"; nothing where there is none.
std::optional<std::string> macOf(const MIB_IF_ROW2& row);

}  // namespace hostwire
