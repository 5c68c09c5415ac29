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
  bool isLocal = false;    // of the link or the loopback: not reachable from other networks
  std::uint32_t ipv4 = 0;  // in host byte order
  unsigned prefixLength = 0;
};

struct TableDeleter {
  void operator()(void* table) const { FreeMibTable(table); }
};

InterfaceCounters countersOf(const MIB_IF_ROW2& row, bool withDetail);

// Leaves out rows that repeat others (filters), and those of adapters without hardware that are not in use.
bool isShown(const MIB_IF_ROW2& row);

// Returns all rows of GetIfTable2. Throws HostError.
std::vector<MIB_IF_ROW2> readInterfaceTable();

// Returns them in the system's order. Throws HostError.
std::vector<InterfaceAddress> readInterfaceAddresses();

// Returns "02:00:5e:10:00:00"; nothing if it has none.
std::optional<std::string> macOf(const MIB_IF_ROW2& row);

}  // namespace hostwire
