// The broadcast addresses of the interfaces of Windows, from GetIfTable2 and GetUnicastIpAddressTable.
#include "host/wake.h"

#include <array>
#include <map>
#include <memory>

#include "host/error.h"
#include "windows/network/interfaces.h"
#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

struct TableDeleter {
  void operator()(void* table) const { FreeMibTable(table); }
};

// In host byte order.
std::string textOf(std::uint32_t bits) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const ULONG address = htonl(bits);
  return inet_ntop(AF_INET, &address, text.data(), text.size()) == nullptr ? std::string{} : text.data();
}

std::optional<std::string> broadcastOf(std::uint32_t address, unsigned prefixLength) {
  if (prefixLength > 30) return std::nullopt;
  return textOf(address | (0xFFFFFFFFU >> prefixLength));
}

// Returns the names of those that are up and can broadcast, by index.
std::map<NET_IFINDEX, std::string> findUsable() {
  std::map<NET_IFINDEX, std::string> usable;
  for (const MIB_IF_ROW2& row : readInterfaceTable())
    if (row.OperStatus == IfOperStatusUp && row.AccessType == NET_IF_ACCESS_BROADCAST)
      usable.emplace(row.InterfaceIndex, toUtf8(row.Alias));
  return usable;
}

}  // namespace

std::vector<BroadcastAddress> readBroadcastAddresses() {
  const auto usable = findUsable();
  MIB_UNICASTIPADDRESS_TABLE* raw = nullptr;
  if (const DWORD code = GetUnicastIpAddressTable(AF_INET, &raw); code != NO_ERROR)
    throw win32Error(code, "GetUnicastIpAddressTable");
  const std::unique_ptr<MIB_UNICASTIPADDRESS_TABLE, TableDeleter> table(raw);
  std::vector<BroadcastAddress> addresses;
  for (ULONG at = 0; at < table->NumEntries; ++at) {
    const MIB_UNICASTIPADDRESS_ROW& row = table->Table[at];
    const auto found = usable.find(row.InterfaceIndex);
    if (found == usable.end()) continue;
    const std::uint32_t bits = ntohl(row.Address.Ipv4.sin_addr.s_addr);
    addresses.push_back({found->second, textOf(bits), broadcastOf(bits, row.OnLinkPrefixLength)});
  }
  return addresses;
}

// Drivers keep this among their own settings, each under its own names.
std::vector<WakeOnLan> readWakeOnLan(const Roots&) {
  throw HostError(std::errc::not_supported, "read Wake-on-LAN");
}

}  // namespace hostwire
