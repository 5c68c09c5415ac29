// Windows does not tell whose connections a port has without a look at all of the machine's.
#include "host/connections.h"
#include "host/error.h"

namespace hostwire {

std::vector<ClientConnections> readConnections(std::uint16_t) {
  throw HostError(std::errc::not_supported, "count connections");
}

}  // namespace hostwire
