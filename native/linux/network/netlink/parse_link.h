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
// lock meanwhile.
struct LinkMessage {
  // The name (as in the kernel), the index, the master, the counters, and whether it is up.
  InterfaceCounters counters;
  // Its own index or that of a related interface of this network namespace: the other end of a veth, what a
  // VLAN is on top of. 0: none, or in another namespace.
  std::uint32_t linkIndex = 0;
};

// From what follows the netlink header. Nothing where the name, the index or the counters are missing.
std::optional<LinkMessage> parseLink(std::string_view message);

// RTM_NEWSTATS: puts the counters in it into the interface of its index. `links` in the order of the indexes.
// False where none is of that index, or the counters are missing.
bool updateCounters(std::vector<InterfaceCounters>& links, std::string_view message);

}  // namespace hostwire
