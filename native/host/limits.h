// What the operating system allows this process.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

// The maximum number of open files and sockets; nothing where there is no such limit.
std::optional<std::uint64_t> descriptorLimit();

// The number of files and sockets that are open; nothing where the system does not say.
std::optional<std::uint64_t> openDescriptors();

// Makes the allocator keep one heap for all threads instead of one per thread. Heaps per thread serve
// programs that allocate on many threads at once; here they would only hold memory back.
void shareOneHeap();

// Returns memory that was freed to the system, where the C library keeps it: 16 ms for 160 MiB, during which
// other threads may wait to allocate. May be called on any thread.
void trimHeap();

}  // namespace hostwire
