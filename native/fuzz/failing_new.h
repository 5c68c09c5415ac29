// Makes allocations fail on request: replaces operator new.
#pragma once

#include <cstdint>

namespace hostwire {

// The nth allocation from now on, of any thread, throws std::bad_alloc, once.
void failAllocation(std::uint64_t nth);

// Cancels that. True when an allocation has failed.
bool stopFailing();

}  // namespace hostwire
