// What the operating system allows this process.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

// The maximum number of open files and sockets; nothing where there is no such limit.
std::optional<std::uint64_t> descriptorLimit();

// The number of files and sockets that are open; nothing where the system does not say.
std::optional<std::uint64_t> openDescriptors();

// Makes the allocator hold back little: one heap for all threads, because heaps per thread serve programs
// that allocate on many threads at once; and a mapping of its own for each large block, which is returned
// when it is freed. By default the first such block that is freed puts later ones into the heap, which does
// not shrink below anything that was allocated after them.
void tuneHeap();

// Returns memory that was freed to the system, where the C library keeps it: 16 ms for 160 MiB, during which
// other threads may wait to allocate. May be called on any thread.
void trimHeap();

}  // namespace hostwire
