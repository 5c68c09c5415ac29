// IPv4 addresses from /proc, which does not list them by interface: the local addresses of the routing trie,
// each assigned to the interface whose network contains it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/network/parse_network.h"

namespace hostwire {

// Parses /proc/net/fib_trie: the machine's own addresses, in host byte order, without duplicates.
std::vector<std::uint32_t> parseLocalAddresses(std::string_view text);

// A network of an interface: 192.0.2.0 and 255.255.255.0, in host byte order.
struct ConnectedNetwork {
  std::string name;
  std::uint32_t network = 0;
  std::uint32_t mask = 0;
};

// Parses /proc/net/route: the routes without a gateway, except for the default route.
std::vector<ConnectedNetwork> parseConnectedNetworks(std::string_view text);

// The smallest network that contains an address determines its interface; 127.0.0.0/8 is the loopback's. An
// address in none of them (of a tunnel with one peer, for example) is left out.
std::vector<InterfaceAddress> placeAddresses(const std::vector<std::uint32_t>& addresses,
                                             const std::vector<ConnectedNetwork>& networks);

}  // namespace hostwire
