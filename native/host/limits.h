// What the operating system allows this process.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

// How many files and sockets may be open at a time; nothing where there is no such limit.
std::optional<std::uint64_t> descriptorLimit();

// Asks the allocator to keep one heap for all threads, where it would give each thread its own. Those are for
// programs that allocate on many threads at once; here they only hold memory back.
void shareOneHeap();

}  // namespace hostwire
