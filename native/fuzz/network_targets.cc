// Fuzz targets: network interfaces, addresses, routes, netlink.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"
#include "linux/kernel/parse_proc.h"
#include "linux/network/netlink/parse_link.h"
#include "linux/network/netlink/parse_netlink.h"
#include "linux/network/netlink/parse_nl80211.h"
#include "linux/network/parse_ipv4.h"
#include "linux/network/parse_network.h"
#include "linux/network/parse_route.h"

namespace hostwire {
namespace {

void runNetlink(std::string_view input) {
  for (const std::uint32_t sequence : {0U, 1U}) {
    const NetlinkPart part = parseNetlink(input, sequence);
    require(part.error >= 0 && part.error < 4096, "an errno");
    for (const std::string_view payload : part.payloads) {
      const std::string_view attributes = payload.substr(std::min<std::size_t>(payload.size(), 4));
      parseFamilyId(attributes);
      parseWifiInterface(attributes);
      parseStationSignal(attributes);
    }
  }
  const auto signal = parseStationSignal(input);
  if (signal) require(*signal < 0 && *signal >= -128, "dBm of a receiver");
}

// Parses a datagram of a dump, or one message.
void runLinkMessage(std::string_view input) {
  auto messages = parseNetlink(input, 1).payloads;
  messages.push_back(input);
  std::vector<InterfaceCounters> links(1);
  for (const std::string_view message : messages) {
    updateCounters(links, message);
    const auto link = parseLink(message);
    if (!link) continue;
    require(!link->counters.name.empty() && link->counters.index > 0, "a link has a name and an index");
    links.front() = link->counters;
  }
}

void runLink(std::string_view input) {
  LinkFacts facts;
  facts.devtype = findUeventValue(input, "DEVTYPE");
  facts.type = parseInteger(input);
  for (const bool is : {false, true}) {
    facts.hasDevice = facts.isWireless = is;
    classifyLink(facts);
    require(!(isHardware(facts) && isLine(facts)), "hardware has a device, a line has none");
  }
  findUeventValue(input, "");
  InterfaceCounters nic;
  InterfaceCounters line;
  nic.hasDevice = line.isLine = true;
  nic.receivedBytes = line.receivedBytes = input.size();
  std::vector<InterfaceCounters> links{line, nic};
  judgeLines(links, input);
  require(!links.front().hasDevice && links.back().hasDevice, "hardware that is as busy carries a line");
}

void runIpv4(std::string_view input) {
  const auto addresses = parseLocalAddresses(input);
  const auto networks = parseConnectedNetworks(input);
  require(placeAddresses(addresses, networks).size() <= addresses.size(), "no address is placed twice");
  placeAddresses({0, 0x7F000001, 0xC0000207, UINT32_MAX}, networks);
}

}  // namespace

const std::vector<FuzzTarget>& networkTargets() {
  static const std::vector<FuzzTarget> targets{
      {"net-dev", "/net/dev", call<parseNetDev>},
      {"if-inet6", "/if_inet6", call<parseIfInet6>},
      {"wireless", "/wireless", call<parseWireless>},
      {"route", "/net/route", call<parseDefaultRoute>},
      {"ipv6-route", "/ipv6_route", call<parseDefaultRouteIpv6>},
      {"mac", "/address", call<parseMac>},
      {"fib-trie", "/fib_trie", runIpv4},
      {"connected-networks", "/net/route", runIpv4},
      {"link", "/uevent", runLink},
      {"netlink-station", "/get-station", runNetlink},
      {"netlink-interface", "/get-interface", runNetlink},
      {"netlink-family", "/get-family", runNetlink},
      {"netlink-link", "/get-link", runLinkMessage},
  };
  return targets;
}

}  // namespace hostwire
