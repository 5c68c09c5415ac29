// Not read on Windows yet.
#include "host/memory.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct MemoryReader::State {};
MemoryReader::MemoryReader(const Roots&) {}
MemoryReader::~MemoryReader() = default;
MemoryCounters MemoryReader::read(bool) { throw HostError(ENOTSUP, "read memory"); }

}  // namespace hostwire
