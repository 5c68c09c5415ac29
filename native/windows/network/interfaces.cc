// GetIfTable2 and GetUnicastIpAddressTable.
#include "windows/network/interfaces.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

constexpr IFTYPE kBridgeType = 209;  // IF_TYPE_BRIDGE, which some headers lack

InterfaceKind kindOf(IFTYPE type) {
  switch (type) {
    case IF_TYPE_ETHERNET_CSMACD: return InterfaceKind::kEthernet;
    case IF_TYPE_IEEE80211: return InterfaceKind::kWifi;
    case IF_TYPE_SOFTWARE_LOOPBACK: return InterfaceKind::kLoopback;
    case IF_TYPE_L2_VLAN: return InterfaceKind::kVlan;
    case kBridgeType: return InterfaceKind::kBridge;
    case IF_TYPE_PPP:
    case IF_TYPE_PROP_VIRTUAL:
    case IF_TYPE_TUNNEL: return InterfaceKind::kTunnel;
    default: return InterfaceKind::kOther;
  }
}

// The members of a team are hardware and count; the team is not hardware and does not: nothing counts twice.
// Interfaces have no master here (masterIndex and lowerIndex stay 0): the stack of NDIS does not show whether
// an upper interface counts the bytes of a lower one.
bool hasHardware(const MIB_IF_ROW2& row) {
  return row.InterfaceAndOperStatusFlags.HardwareInterface != 0 && row.Type != IF_TYPE_SOFTWARE_LOOPBACK;
}

// 0 and the maximum both mean that the speed is unknown.
std::optional<double> speedOf(const MIB_IF_ROW2& row) {
  const ULONG64 bitsPerSecond = std::min(row.TransmitLinkSpeed, row.ReceiveLinkSpeed);
  if (bitsPerSecond == 0 || bitsPerSecond == ~0ULL || row.OperStatus != IfOperStatusUp) return std::nullopt;
  return static_cast<double>(bitsPerSecond) / 1e6;
}

std::string textOf(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size()) == nullptr ? std::string{} : text.data();
}

}  // namespace

std::optional<std::string> macOf(const MIB_IF_ROW2& row) {
  constexpr ULONG kMacBytes = 6;
  const auto* bytes = row.PhysicalAddress;
  if (row.PhysicalAddressLength != kMacBytes ||
      std::all_of(bytes, bytes + kMacBytes, [](UCHAR byte) { return byte == 0; }))
    return std::nullopt;
  std::array<char, 18> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0],
                                  bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]));
  return text.data();
}

bool isShown(const MIB_IF_ROW2& row) {
  const auto& flags = row.InterfaceAndOperStatusFlags;
  if (flags.FilterInterface != 0) return false;
  return hasHardware(row) || row.Type == IF_TYPE_SOFTWARE_LOOPBACK || row.OperStatus == IfOperStatusUp;
}

InterfaceCounters countersOf(const MIB_IF_ROW2& row, bool withDetail) {
  InterfaceCounters counters;
  counters.name = toUtf8(row.Alias);
  counters.index = row.InterfaceIndex;
  counters.kind = kindOf(row.Type);
  counters.hasDevice = hasHardware(row);
  counters.receivedBytes = row.InOctets;
  counters.receivedPackets = row.InUcastPkts + row.InNUcastPkts;
  counters.receiveErrors = row.InErrors;
  counters.receiveDrops = row.InDiscards;
  counters.sentBytes = row.OutOctets;
  counters.sentPackets = row.OutUcastPkts + row.OutNUcastPkts;
  counters.sendErrors = row.OutErrors;
  counters.sendDrops = row.OutDiscards;
  if (!withDetail) return counters;
  counters.isUp = row.OperStatus == IfOperStatusUp;
  counters.speedMbps = speedOf(row);
  counters.mac = macOf(row);
  return counters;
}

std::vector<MIB_IF_ROW2> readInterfaceTable() {
  MIB_IF_TABLE2* raw = nullptr;
  if (const DWORD code = GetIfTable2(&raw); code != NO_ERROR) throw win32Error(code, "GetIfTable2");
  const std::unique_ptr<MIB_IF_TABLE2, TableDeleter> table(raw);
  return {table->Table, table->Table + table->NumEntries};
}

std::vector<InterfaceAddress> readInterfaceAddresses() {
  MIB_UNICASTIPADDRESS_TABLE* raw = nullptr;
  if (const DWORD code = GetUnicastIpAddressTable(AF_UNSPEC, &raw); code != NO_ERROR)
    throw win32Error(code, "GetUnicastIpAddressTable");
  const std::unique_ptr<MIB_UNICASTIPADDRESS_TABLE, TableDeleter> table(raw);
  std::vector<InterfaceAddress> addresses;
  for (ULONG at = 0; at < table->NumEntries; ++at) {
    const MIB_UNICASTIPADDRESS_ROW& row = table->Table[at];
    InterfaceAddress address;
    address.index = row.InterfaceIndex;
    address.isIpv6 = row.Address.si_family == AF_INET6;
    if (address.isIpv6) {
      const in6_addr& bytes = row.Address.Ipv6.sin6_addr;
      address.text = textOf(AF_INET6, &bytes);
      address.isLocal = IN6_IS_ADDR_LINKLOCAL(&bytes) || IN6_IS_ADDR_LOOPBACK(&bytes);
    } else {
      const in_addr& bytes = row.Address.Ipv4.sin_addr;
      address.ipv4 = ntohl(bytes.s_addr);
      address.prefixLength = row.OnLinkPrefixLength;
      address.text = textOf(AF_INET, &bytes);
      address.isLocal = address.text.starts_with("127.") || address.text.starts_with("169.254.");
    }
    if (!address.text.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

}  // namespace hostwire
