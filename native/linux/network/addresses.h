// The addresses of the network interfaces.
#pragma once

#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/network/parse_network.h"

namespace hostwire {

// Returns the folder of the network files: that of the machine's first process if the roots name another
// /proc than ours, whose "net" would be the reader's own (a container's).
std::string netFolder(const Roots& roots);

// Returns IPv4 and IPv6 addresses, in the kernel's order. May wait for the kernel's network configuration
// lock. With other roots than the default they come from /proc, because the kernel would answer for the
// container; an IPv4 address that is not in a network of any interface is then missing (see parse_ipv4.h).
std::vector<InterfaceAddress> readAddresses(const Roots& roots);

}  // namespace hostwire
