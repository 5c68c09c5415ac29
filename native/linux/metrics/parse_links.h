// Network interfaces as families of metrics. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <linux/if_link.h>

#include "host/exposition.h"
#include "host/network.h"

namespace hostwire {

// Attributes of an interface in one RTM_NEWLINK; texts are valid UTF-8, and differ where the kernel's do.
struct LinkMetrics {
  std::string rawName;  // as in the kernel
  std::string name;
  std::uint32_t index = 0;
  std::uint32_t link = 0;   // the index of the interface below it; its own if it has none
  std::uint32_t flags = 0;  // IFF_*, as /sys shows them
  bool isRunning = false;   // set up: the values below are meaningful
  bool isDormant = false;
  std::uint16_t protocolType = 0;  // ARPHRD_*
  std::uint8_t operState = 0;
  std::uint8_t linkMode = 0;
  std::optional<std::uint8_t> carrier;
  std::optional<std::uint32_t> carrierChanges, carrierUps, carrierDowns;
  std::optional<std::uint32_t> mtu, group, queueLength;
  std::string address, broadcast, alias;
  rtnl_link_stats64 counters{};
  // Not in the message: read from /sys, while the interface is set up.
  std::optional<std::int64_t> speedMbps;
  std::string duplex;
};

// Parses the data after the netlink header (rtnetlink(7)). Nothing if the name, the index or the counters are
// missing.
std::optional<LinkMetrics> parseLinkMetrics(std::string_view message);
void writeLinks(const std::vector<LinkMetrics>& links, Exposition& out);
// Writes the counters that all kernels share, where only /proc/net/dev is known.
void writeLinkCounters(const std::vector<InterfaceCounters>& links, Exposition& out);

}  // namespace hostwire
