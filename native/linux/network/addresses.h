// The addresses of the network interfaces.
#pragma once

#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/network/parse_network.h"

namespace hostwire {

// The folder of the network files: of the machine's first process when the roots name another /proc than
// ours, whose "net" would be that of whoever reads it (a container's).
std::string netFolder(const Roots& roots);

// IPv4 and IPv6, in the kernel's order. May wait for the kernel's network configuration lock. Under other
// roots than the default they come from /proc, as asking the kernel would tell of the container; an IPv4
// address that is in no network of an interface is missing then (see parse_ipv4.h).
std::vector<InterfaceAddress> readAddresses(const Roots& roots);

}  // namespace hostwire
