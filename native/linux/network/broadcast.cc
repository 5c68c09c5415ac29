// The broadcast addresses of the interfaces, from getifaddrs(3).
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/error.h"
#include "host/wake.h"
#include "linux/kernel/text.h"
#include "linux/network/address_list.h"

namespace hostwire {
namespace {

// Returns the address in host byte order; 0 if it is null.
std::uint32_t bitsOf(const sockaddr* address) {
  if (address == nullptr) return 0;
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, address, sizeof ipv4);
  return ntohl(ipv4.sin_addr.s_addr);
}

std::string textOf(std::uint32_t bits) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const in_addr address{htonl(bits)};
  return inet_ntop(AF_INET, &address, text.data(), text.size()) == nullptr ? "" : text.data();
}

// Without a carrier the kernel would drop the packets and report nothing.
constexpr unsigned kNeeded = IFF_UP | IFF_RUNNING | IFF_BROADCAST;

bool canBroadcast(const ifaddrs& entry) {
  return entry.ifa_addr != nullptr && entry.ifa_addr->sa_family == AF_INET &&
         (entry.ifa_flags & kNeeded) == kNeeded && (entry.ifa_flags & IFF_LOOPBACK) == 0;
}

// Returns the last address of the network, which the kernel takes for a broadcast address whether or not it
// was given as one (net/ipv4/fib_frontend.c, fib_add_ifaddr): `ip address add` does not set one.
std::optional<std::string> broadcastOf(std::uint32_t address, std::uint32_t mask) {
  const std::uint32_t hosts = ~mask;
  if (hosts <= 1) return std::nullopt;
  return textOf(address | hosts);
}

}  // namespace

std::vector<BroadcastAddress> readBroadcastAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw HostError(errno, "list the network interfaces");
  const AddressList list(first);
  std::vector<BroadcastAddress> addresses;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (!canBroadcast(*entry)) continue;
    const std::uint32_t address = bitsOf(entry->ifa_addr);
    // A label such as "eth0:1" belongs to the address and is not the interface's name.
    std::string name = toValidUtf8(entry->ifa_name);
    addresses.push_back(
        {name.substr(0, name.find(':')), textOf(address), broadcastOf(address, bitsOf(entry->ifa_netmask))});
  }
  return addresses;
}

}  // namespace hostwire
