// Makes allocations fail on request: replaces operator new.
#pragma once

#include <cstdint>

namespace hostwire {

// Makes the nth allocation from now on, of any thread, throw std::bad_alloc, once.
void failAllocation(std::uint64_t nth);

// Cancels that. Returns true when an allocation has failed.
bool stopFailing();

}  // namespace hostwire
