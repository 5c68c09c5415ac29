// The broadcast addresses of the interfaces of Windows, from GetIfTable2 and GetUnicastIpAddressTable.
#include "host/wake.h"

#include <array>
#include <map>

#include "host/error.h"
#include "windows/network/interfaces.h"
#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

std::optional<std::string> broadcastOf(const InterfaceAddress& address) {
  if (address.prefixLength > 30) return std::nullopt;
  std::array<char, INET_ADDRSTRLEN> text{};
  const ULONG broadcast = htonl(address.ipv4 | (0xFFFFFFFFU >> address.prefixLength));
  return inet_ntop(AF_INET, &broadcast, text.data(), text.size()) == nullptr ? std::string{} : text.data();
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
  std::vector<BroadcastAddress> addresses;
  for (const InterfaceAddress& address : readInterfaceAddresses()) {
    const auto found = usable.find(address.index);
    if (found != usable.end() && !address.isIpv6)
      addresses.push_back({found->second, address.text, broadcastOf(address)});
  }
  return addresses;
}

// Drivers keep this among their own settings, each under its own names.
std::vector<WakeOnLan> readWakeOnLan(const Roots&) {
  throw HostError(std::errc::not_supported, "read Wake-on-LAN");
}

}  // namespace hostwire
