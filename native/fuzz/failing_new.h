// Memory that runs out when a test wants it to: stands in for operator new.
#pragma once

#include <cstdint>

namespace hostwire {

// The nth allocation from now on, of whatever thread, throws std::bad_alloc, once.
void failAllocation(std::uint64_t nth);

// Takes that back. True when an allocation has failed.
bool stopFailing();

}  // namespace hostwire
