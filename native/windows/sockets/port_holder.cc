// Not implemented: GetExtendedTcpTable would be its source.
#include "host/port_holder.h"

namespace hostwire {

std::optional<PortHolder> findPortHolder(std::uint16_t) { return std::nullopt; }

}  // namespace hostwire
