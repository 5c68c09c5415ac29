// The attributes of RTM_NEWLINK.
#include "linux/network/netlink/parse_link.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "linux/network/netlink/parse_netlink.h"

namespace hostwire {
namespace {

// IF_OPER_* of <linux/if.h>, which must not be included beside <net/if.h>.
constexpr std::uint8_t kUnknownState = 0;
constexpr std::uint8_t kUpState = 6;

struct Attributes {
  std::array<std::string_view, IFLA_LINK_NETNSID + 1> values;

  explicit Attributes(std::string_view bytes) {
    NetlinkAttribute attribute;
    while (takeAttribute(bytes, attribute))
      if (attribute.type < values.size()) values.at(attribute.type) = attribute.value;
  }
  template <class T>
  std::optional<T> find(std::size_t type) const {
    return valueOf<T>(values.at(type));
  }
};

// The same sums as in /proc/net/dev (net/core/net-procfs.c). The structure grows with new kernels.
bool addCounters(InterfaceCounters& counters, std::string_view bytes) {
  rtnl_link_stats64 stats{};
  if (bytes.size() < offsetof(rtnl_link_stats64, tx_aborted_errors)) return false;
  std::memcpy(&stats, bytes.data(), std::min(bytes.size(), sizeof stats));
  counters.receivedBytes = stats.rx_bytes;
  counters.receivedPackets = stats.rx_packets;
  counters.receiveErrors = stats.rx_errors;
  counters.receiveDrops = stats.rx_dropped + stats.rx_missed_errors;
  counters.sentBytes = stats.tx_bytes;
  counters.sentPackets = stats.tx_packets;
  counters.sendErrors = stats.tx_errors;
  counters.sendDrops = stats.tx_dropped;
  return true;
}

// Like LinkFiles::isUp, from the same facts.
std::optional<bool> isUp(const ifinfomsg& header, const Attributes& attributes) {
  const auto state = attributes.find<std::uint8_t>(IFLA_OPERSTATE);
  if (!state) return std::nullopt;
  if (*state != kUnknownState) return *state == kUpState;
  if (header.ifi_type == ARPHRD_LOOPBACK) return (header.ifi_flags & IFF_UP) != 0;
  return attributes.find<std::uint8_t>(IFLA_CARRIER).value_or(0) == 1;
}

}  // namespace

std::optional<LinkMessage> parseLink(std::string_view message) {
  const auto header = valueOf<ifinfomsg>(message);
  if (!header || header->ifi_index <= 0) return std::nullopt;
  const Attributes attributes(message.substr(sizeof(ifinfomsg)));
  const std::string_view name = attributes.values.at(IFLA_IFNAME);
  LinkMessage link;
  link.counters.name = name.substr(0, name.find('\0'));
  link.counters.index = static_cast<std::uint32_t>(header->ifi_index);
  link.type = header->ifi_type;
  link.counters.masterIndex = attributes.find<std::uint32_t>(IFLA_MASTER).value_or(0);
  link.counters.isUp = isUp(*header, attributes);
  if (link.counters.name.empty() || !addCounters(link.counters, attributes.values.at(IFLA_STATS64)))
    return std::nullopt;
  if (attributes.values.at(IFLA_LINK_NETNSID).empty())
    link.linkIndex = attributes.find<std::uint32_t>(IFLA_LINK).value_or(link.counters.index);
  return link;
}

bool updateCounters(std::vector<InterfaceCounters>& links, std::string_view message) {
  const auto header = valueOf<if_stats_msg>(message);
  if (!header) return false;
  const auto found =
      std::lower_bound(links.begin(), links.end(), header->ifindex,
                       [](const InterfaceCounters& link, std::uint32_t index) { return link.index < index; });
  if (found == links.end() || found->index != header->ifindex) return false;
  return addCounters(*found, findAttribute(message.substr(sizeof(if_stats_msg)), IFLA_STATS_LINK_64));
}

}  // namespace hostwire
