// Limits that the operating system sets for this process.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

// Returns the maximum number of open files and sockets; nothing if it is unlimited.
std::optional<std::uint64_t> descriptorLimit();

// Returns the number of open files and sockets; nothing if the system does not report it.
std::optional<std::uint64_t> openDescriptors();

// Makes the allocator hold back little: one heap for all threads, because heaps per thread serve programs
// that allocate on many threads at the same time; and a separate mapping for each large block, which is
// returned to the system when freed. By default the first such block that is freed moves later ones into the
// heap, which cannot shrink below any block that was allocated after them.
void tuneHeap();

// Returns freed memory to the system, where the C library keeps it: 16 ms for 160 MiB, during which other
// threads may wait to allocate. May be called on any thread.
void trimHeap();

}  // namespace hostwire
