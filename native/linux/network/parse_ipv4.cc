// fib_trie and route.
#include "linux/network/parse_ipv4.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

std::optional<std::uint32_t> parseIpv4(std::string_view text) {
  std::array<char, INET_ADDRSTRLEN> terminated{};
  if (text.empty() || text.size() >= terminated.size()) return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  in_addr address{};
  if (inet_pton(AF_INET, terminated.data(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

// The kernel prints the four bytes, which are in network order, as one number in its own order.
std::optional<std::uint32_t> parseRouteAddress(std::string_view digits) {
  const auto value = parseHex(digits);
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return ntohl(static_cast<std::uint32_t>(*value));
}

}  // namespace

std::vector<std::uint32_t> parseLocalAddresses(std::string_view text) {
  std::set<std::uint32_t> addresses;
  std::optional<std::uint32_t> leaf;
  std::string_view line;
  while (takeLine(text, line)) {
    // "   |-- 192.0.2.7", and below it "      /32 host LOCAL"
    const std::string_view mark = takeWord(line);
    if (mark == "|--" || mark == "+--") {
      leaf = mark == "|--" ? parseIpv4(takeWord(line)) : std::nullopt;
    } else if (mark == "/32" && leaf && takeWord(line) == "host" && takeWord(line) == "LOCAL") {
      addresses.insert(*leaf);
    }
  }
  return {addresses.begin(), addresses.end()};
}

std::vector<ConnectedNetwork> parseConnectedNetworks(std::string_view text) {
  std::vector<ConnectedNetwork> networks;
  std::string_view line;
  while (takeLine(text, line)) {
    // Iface Destination Gateway Flags RefCnt Use Metric Mask
    const std::string_view name = takeWord(line);
    const auto network = parseRouteAddress(takeWord(line));
    const auto gateway = parseRouteAddress(takeWord(line));
    for (int skipped = 0; skipped < 4; ++skipped) takeWord(line);
    const auto mask = parseRouteAddress(takeWord(line));
    if (network && gateway == 0U && mask && *mask != 0)
      networks.push_back({std::string(name), *network, *mask});
  }
  return networks;
}

std::vector<InterfaceAddress> placeAddresses(const std::vector<std::uint32_t>& addresses,
                                             const std::vector<ConnectedNetwork>& networks) {
  std::vector<InterfaceAddress> placed;
  for (const std::uint32_t address : addresses) {
    const bool isLoopback = address >> 24U == 127;
    const ConnectedNetwork* smallest = nullptr;
    for (const ConnectedNetwork& one : networks)
      if ((address & one.mask) == (one.network & one.mask) &&
          (smallest == nullptr || one.mask > smallest->mask))
        smallest = &one;
    if (smallest == nullptr && !isLoopback) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const in_addr inNetworkOrder{htonl(address)};
    if (inet_ntop(AF_INET, &inNetworkOrder, text.data(), text.size()) == nullptr) continue;
    placed.push_back(
        {isLoopback ? "lo" : smallest->name, text.data(), false, address >> 16U == 0xA9FE, isLoopback});
  }
  return placed;
}

}  // namespace hostwire
