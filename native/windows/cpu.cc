// Not read on Windows yet.
#include "host/cpu.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct CpuReader::State {};
CpuReader::CpuReader(const Roots&, ProberPool&) {}
CpuReader::~CpuReader() = default;
CpuCounters CpuReader::read(bool) { throw HostError(ENOTSUP, "read cpu"); }

}  // namespace hostwire
