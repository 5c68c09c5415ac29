// Parser of RTM_NEWLINK, the kernel's description of a network interface (rtnetlink(7),
// include/uapi/linux/if_link.h), in the machine's byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/network.h"

namespace hostwire {

// The counters and attributes in one message are of one moment: the kernel holds its network configuration
// lock while it writes them.
struct LinkMessage {
  // The name (as in the kernel), the index, the master, the counters, and whether it is up.
  InterfaceCounters counters;
  // Its own index or that of a related interface of this network namespace: the other end of a veth, the
  // interface below a VLAN. 0: none, or in another namespace.
  std::uint32_t linkIndex = 0;
  std::uint16_t type = 0;  // ARPHRD_* of <linux/if_arp.h>
};

// Parses the data after the netlink header. Nothing if the name, the index or the counters are missing.
std::optional<LinkMessage> parseLink(std::string_view message);

// Parses RTM_NEWSTATS: copies its counters to the interface of its index. `links` must be in the order of the
// indexes. Returns false if none has that index, or the counters are missing.
bool updateCounters(std::vector<InterfaceCounters>& links, std::string_view message);

}  // namespace hostwire
