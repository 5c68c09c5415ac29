// The attributes of RTM_NEWLINK, and the families made from them.
#include "linux/metrics/parse_links.h"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "linux/kernel/text.h"
#include "linux/network/netlink/parse_netlink.h"

namespace hostwire {
namespace {

// Defined in <linux/if.h>, which must not be included beside <net/if.h>.
constexpr std::uint32_t kLowerUp = 1U << 16;
constexpr std::uint32_t kDormant = 1U << 17;
constexpr std::uint8_t kUp = 6;
constexpr std::array kOperStates{"unknown", "notpresent", "down", "lowerlayerdown",
                                 "testing", "dormant",    "up"};

std::string_view textOf(std::string_view value) { return value.substr(0, value.find('\0')); }

// "02:fc:00:00:00:01"
std::string hardwareAddress(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!text.empty()) text.push_back(':');
    text.push_back(kDigits[byte >> 4U]);
    text.push_back(kDigits[byte & 15U]);
  }
  return text;
}

// The kernel adds computed flags to those of a message; /sys shows only those that were set.
std::uint32_t ownFlags(std::uint32_t flags, std::uint32_t promiscuity) {
  constexpr std::uint32_t kComputed = IFF_RUNNING | IFF_PROMISC | kLowerUp | kDormant;
  return (flags & ~kComputed) | (promiscuity > 0 ? std::uint32_t{IFF_PROMISC} : 0U);
}

void takeAttributes(LinkMetrics& link, std::uint32_t& promiscuity, bool& hasCounters,
                    std::string_view bytes) {
  NetlinkAttribute attribute;
  while (takeAttribute(bytes, attribute)) {
    const std::string_view value = attribute.value;
    switch (attribute.type) {
      case IFLA_IFNAME: link.rawName = textOf(value); break;
      case IFLA_IFALIAS: link.alias = toDistinctUtf8(textOf(value)); break;
      case IFLA_ADDRESS: link.address = hardwareAddress(value); break;
      case IFLA_BROADCAST: link.broadcast = hardwareAddress(value); break;
      case IFLA_LINK: link.link = valueOf<std::uint32_t>(value).value_or(link.index); break;
      case IFLA_OPERSTATE: link.operState = valueOf<std::uint8_t>(value).value_or(0); break;
      case IFLA_LINKMODE: link.linkMode = valueOf<std::uint8_t>(value).value_or(0); break;
      case IFLA_CARRIER: link.carrier = valueOf<std::uint8_t>(value); break;
      case IFLA_CARRIER_CHANGES: link.carrierChanges = valueOf<std::uint32_t>(value); break;
      case IFLA_CARRIER_UP_COUNT: link.carrierUps = valueOf<std::uint32_t>(value); break;
      case IFLA_CARRIER_DOWN_COUNT: link.carrierDowns = valueOf<std::uint32_t>(value); break;
      case IFLA_MTU: link.mtu = valueOf<std::uint32_t>(value); break;
      case IFLA_GROUP: link.group = valueOf<std::uint32_t>(value); break;
      case IFLA_TXQLEN: link.queueLength = valueOf<std::uint32_t>(value); break;
      case IFLA_PROMISCUITY: promiscuity = valueOf<std::uint32_t>(value).value_or(0); break;
      case IFLA_STATS64:
        // The structure grows with new kernels.
        hasCounters = value.size() >= offsetof(rtnl_link_stats64, rx_compressed);
        std::memcpy(&link.counters, value.data(), std::min(value.size(), sizeof link.counters));
        break;
      default: break;
    }
  }
}

using Links = std::vector<LinkMetrics>;

struct Counter {
  const char* name;
  const char* help;
  std::uint64_t (*of)(const rtnl_link_stats64&);
};
using Stats = rtnl_link_stats64;
// The same sums as in /proc/net/dev (net/core/net-procfs.c).
constexpr std::array kCounters{
    Counter{"node_network_receive_bytes_total", "Network device statistic receive_bytes.",
            [](const Stats& of) { return std::uint64_t{of.rx_bytes}; }},
    Counter{"node_network_receive_packets_total", "Network device statistic receive_packets.",
            [](const Stats& of) { return std::uint64_t{of.rx_packets}; }},
    Counter{"node_network_receive_errs_total", "Network device statistic receive_errs.",
            [](const Stats& of) { return std::uint64_t{of.rx_errors}; }},
    Counter{"node_network_receive_drop_total", "Network device statistic receive_drop.",
            [](const Stats& of) { return std::uint64_t{of.rx_dropped + of.rx_missed_errors}; }},
    Counter{"node_network_receive_fifo_total", "Network device statistic receive_fifo.",
            [](const Stats& of) { return std::uint64_t{of.rx_fifo_errors}; }},
    Counter{"node_network_receive_frame_total", "Network device statistic receive_frame.",
            [](const Stats& of) {
              return std::uint64_t{of.rx_length_errors + of.rx_over_errors + of.rx_crc_errors +
                                   of.rx_frame_errors};
            }},
    Counter{"node_network_receive_compressed_total", "Network device statistic receive_compressed.",
            [](const Stats& of) { return std::uint64_t{of.rx_compressed}; }},
    Counter{"node_network_receive_multicast_total", "Network device statistic receive_multicast.",
            [](const Stats& of) { return std::uint64_t{of.multicast}; }},
    Counter{"node_network_receive_nohandler_total", "Network device statistic receive_nohandler.",
            [](const Stats& of) { return std::uint64_t{of.rx_nohandler}; }},
    Counter{"node_network_transmit_bytes_total", "Network device statistic transmit_bytes.",
            [](const Stats& of) { return std::uint64_t{of.tx_bytes}; }},
    Counter{"node_network_transmit_packets_total", "Network device statistic transmit_packets.",
            [](const Stats& of) { return std::uint64_t{of.tx_packets}; }},
    Counter{"node_network_transmit_errs_total", "Network device statistic transmit_errs.",
            [](const Stats& of) { return std::uint64_t{of.tx_errors}; }},
    Counter{"node_network_transmit_drop_total", "Network device statistic transmit_drop.",
            [](const Stats& of) { return std::uint64_t{of.tx_dropped}; }},
    Counter{"node_network_transmit_fifo_total", "Network device statistic transmit_fifo.",
            [](const Stats& of) { return std::uint64_t{of.tx_fifo_errors}; }},
    Counter{"node_network_transmit_colls_total", "Network device statistic transmit_colls.",
            [](const Stats& of) { return std::uint64_t{of.collisions}; }},
    Counter{"node_network_transmit_carrier_total", "Network device statistic transmit_carrier.",
            [](const Stats& of) {
              return std::uint64_t{of.tx_carrier_errors + of.tx_aborted_errors + of.tx_window_errors +
                                   of.tx_heartbeat_errors};
            }},
    Counter{"node_network_transmit_compressed_total", "Network device statistic transmit_compressed.",
            [](const Stats& of) { return std::uint64_t{of.tx_compressed}; }}};

struct Property {
  const char* name;
  const char* help;
  MetricType type;
  // Nothing: this interface does not have it.
  std::optional<std::int64_t> (*of)(const LinkMetrics&);
};
using Value = std::optional<std::int64_t>;
template <class T>
constexpr Value whileRunning(const LinkMetrics& link, T value) {
  return link.isRunning ? Value(value) : std::nullopt;
}
constexpr std::array kProperties{
    Property{"node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.operState == kUp ? 1 : 0); }},
    Property{"node_network_carrier", "Network device property: carrier", MetricType::kGauge,
             [](const LinkMetrics& of) { return of.carrier ? whileRunning(of, *of.carrier) : Value(); }},
    Property{"node_network_carrier_changes_total", "Network device property: carrier_changes_total",
             MetricType::kCounter, [](const LinkMetrics& of) { return Value(of.carrierChanges); }},
    Property{"node_network_carrier_up_changes_total", "Network device property: carrier_up_changes_total",
             MetricType::kCounter, [](const LinkMetrics& of) { return Value(of.carrierUps); }},
    Property{"node_network_carrier_down_changes_total", "Network device property: carrier_down_changes_total",
             MetricType::kCounter, [](const LinkMetrics& of) { return Value(of.carrierDowns); }},
    Property{"node_network_dormant", "Network device property: dormant", MetricType::kGauge,
             [](const LinkMetrics& of) { return whileRunning(of, of.isDormant ? 1 : 0); }},
    Property{"node_network_flags", "Network device property: flags", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.flags); }},
    Property{"node_network_iface_id", "Network device property: iface_id", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.index); }},
    Property{"node_network_iface_link", "Network device property: iface_link", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.link); }},
    Property{"node_network_iface_link_mode", "Network device property: iface_link_mode", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.linkMode); }},
    Property{"node_network_mtu_bytes", "Network device property: mtu_bytes", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.mtu); }},
    Property{"node_network_net_dev_group", "Network device property: net_dev_group", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.group); }},
    Property{"node_network_protocol_type", "Network device property: protocol_type", MetricType::kGauge,
             [](const LinkMetrics& of) { return Value(of.protocolType); }},
    Property{"node_network_speed_bytes", "Network device property: speed_bytes", MetricType::kGauge,
             [](const LinkMetrics& of) { return of.speedMbps ? Value(*of.speedMbps * 125'000) : Value(); }},
    Property{"node_network_transmit_queue_length", "Network device property: transmit_queue_length",
             MetricType::kGauge, [](const LinkMetrics& of) { return Value(of.queueLength); }}};

void writeInfo(const Links& links, Exposition& out) {
  out.family("node_network_info", "Non-numeric data from /sys/class/net/<iface>, value is always 1.",
             MetricType::kGauge);
  for (const LinkMetrics& link : links) {
    const char* state = link.operState < kOperStates.size() ? kOperStates.at(link.operState) : "unknown";
    out.add(MetricValue(1), {{"address", link.address},
                             {"broadcast", link.broadcast},
                             {"device", link.name},
                             {"duplex", link.duplex},
                             {"ifalias", link.alias},
                             {"operstate", state}});
  }
}

struct SharedCounter {
  const char* name;
  const char* help;
  std::uint64_t InterfaceCounters::*value;
};
constexpr std::array kSharedCounters{
    SharedCounter{kCounters[0].name, kCounters[0].help, &InterfaceCounters::receivedBytes},
    SharedCounter{kCounters[1].name, kCounters[1].help, &InterfaceCounters::receivedPackets},
    SharedCounter{kCounters[2].name, kCounters[2].help, &InterfaceCounters::receiveErrors},
    SharedCounter{kCounters[3].name, kCounters[3].help, &InterfaceCounters::receiveDrops},
    SharedCounter{kCounters[9].name, kCounters[9].help, &InterfaceCounters::sentBytes},
    SharedCounter{kCounters[10].name, kCounters[10].help, &InterfaceCounters::sentPackets},
    SharedCounter{kCounters[11].name, kCounters[11].help, &InterfaceCounters::sendErrors},
    SharedCounter{kCounters[12].name, kCounters[12].help, &InterfaceCounters::sendDrops}};

}  // namespace

std::optional<LinkMetrics> parseLinkMetrics(std::string_view message) {
  const auto header = valueOf<ifinfomsg>(message);
  if (!header || header->ifi_index <= 0) return std::nullopt;
  LinkMetrics link;
  link.index = static_cast<std::uint32_t>(header->ifi_index);
  link.link = link.index;
  link.protocolType = header->ifi_type;
  std::uint32_t promiscuity = 0;
  bool hasCounters = false;
  takeAttributes(link, promiscuity, hasCounters, message.substr(sizeof(ifinfomsg)));
  if (link.rawName.empty() || !hasCounters) return std::nullopt;
  link.name = toDistinctUtf8(link.rawName);
  link.isRunning = (header->ifi_flags & IFF_UP) != 0;
  link.isDormant = (header->ifi_flags & kDormant) != 0;
  link.flags = ownFlags(header->ifi_flags, promiscuity);
  return link;
}

void writeLinks(const Links& links, Exposition& out) {
  for (const Counter& row : kCounters) {
    out.family(row.name, row.help, MetricType::kCounter);
    for (const LinkMetrics& link : links)
      out.add(MetricValue(row.of(link.counters)), {{"device", link.name}});
  }
  for (const Property& row : kProperties) {
    out.family(row.name, row.help, row.type);
    for (const LinkMetrics& link : links)
      if (const auto value = row.of(link)) out.add(MetricValue::ofSigned(*value), {{"device", link.name}});
  }
  writeInfo(links, out);
}

void writeLinkCounters(const std::vector<InterfaceCounters>& links, Exposition& out) {
  for (const SharedCounter& row : kSharedCounters) {
    out.family(row.name, row.help, MetricType::kCounter);
    for (const InterfaceCounters& link : links) {
      const std::string name = toDistinctUtf8(link.name);
      out.add(MetricValue(link.*row.value), {{"device", name}});
    }
  }
}

}  // namespace hostwire
