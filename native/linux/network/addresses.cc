// Reads getifaddrs(3), or fib_trie and if_inet6 of another /proc.
#include "linux/network/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "linux/kernel/file.h"
#include "linux/network/address_list.h"
#include "linux/network/parse_ipv4.h"

namespace hostwire {
namespace {

std::optional<InterfaceAddress> convert(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || entry.ifa_name == nullptr) return std::nullopt;
  InterfaceAddress address;
  address.name = entry.ifa_name;
  address.isLoopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = entry.ifa_addr->sa_family;
  if (family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, entry.ifa_addr, sizeof ipv4);
    const std::uint32_t bits = ntohl(ipv4.sin_addr.s_addr);
    address.isLinkLocal = bits >> 16U == 0xA9FE;  // 169.254.0.0/16
    if (inet_ntop(family, &ipv4.sin_addr, text.data(), text.size()) == nullptr) return std::nullopt;
  } else if (family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, entry.ifa_addr, sizeof ipv6);
    address.isIpv6 = true;
    address.isLinkLocal = IN6_IS_ADDR_LINKLOCAL(&ipv6.sin6_addr) != 0;
    if (inet_ntop(family, &ipv6.sin6_addr, text.data(), text.size()) == nullptr) return std::nullopt;
  } else {
    return std::nullopt;
  }
  address.text = text.data();
  return address;
}

std::vector<InterfaceAddress> askKernel() {
  std::vector<InterfaceAddress> addresses;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return addresses;
  const AddressList list(first);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next)
    if (auto address = convert(*entry)) addresses.push_back(std::move(*address));
  return addresses;
}

}  // namespace

std::string netFolder(const Roots& roots) {
  std::string ofFirstProcess = roots.proc + "/1/net";
  if (roots.proc != "/proc" && !readSmallFile(ofFirstProcess + "/dev").empty()) return ofFirstProcess;
  return roots.proc + "/net";
}

std::vector<InterfaceAddress> readAddresses(const Roots& roots) {
  if (roots.isDefault()) return askKernel();
  const auto read = [folder = netFolder(roots)](const char* name) {
    std::string buffer;
    KeptFile file(folder + name);
    return std::string(file.readIfPresent(buffer));
  };
  auto addresses =
      placeAddresses(parseLocalAddresses(read("/fib_trie")), parseConnectedNetworks(read("/route")));
  for (InterfaceAddress& address : parseIfInet6(read("/if_inet6"))) addresses.push_back(std::move(address));
  return addresses;
}

}  // namespace hostwire
