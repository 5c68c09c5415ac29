// Not read on Windows yet.
#include "host/disks.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct DisksReader::State {};
DisksReader::DisksReader(const Roots&, ProberPool&) {}
DisksReader::~DisksReader() = default;
std::vector<DiskCounters> DisksReader::read(bool) { throw HostError(ENOTSUP, "read disks"); }

}  // namespace hostwire
