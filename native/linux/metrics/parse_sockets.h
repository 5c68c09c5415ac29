// The kernel's statistics of sockets, protocols and packet queues as families of metrics. Pure: never throws,
// whatever is in the texts.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/exposition.h"

namespace hostwire {

// Writes /proc/net/sockstat and sockstat6. `pageBytes`: memory is counted in pages.
void writeSockets(std::string_view text, std::uint64_t pageBytes, Exposition& out);
// Writes /proc/net/snmp and netstat: a line of names, then one of values, per protocol.
void writeProtocols(std::string_view text, Exposition& out);
// Writes /proc/net/snmp6: a name and a value per line.
void writeProtocols6(std::string_view text, Exposition& out);
// Writes /proc/net/softnet_stat: one line of hexadecimal numbers per processor.
void writePacketQueues(std::string_view text, Exposition& out);

}  // namespace hostwire
