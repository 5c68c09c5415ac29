// Not read on Windows yet.
#include "host/network.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct NetworkReader::State {};
NetworkReader::NetworkReader(const Roots&, ProberPool&) {}
NetworkReader::~NetworkReader() = default;
std::vector<InterfaceCounters> NetworkReader::read(bool) { throw HostError(ENOTSUP, "read network"); }

}  // namespace hostwire
