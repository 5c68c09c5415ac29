// Windows limits neither the files nor the sockets of a process, and gives it one heap.
#include "host/limits.h"

namespace hostwire {

std::optional<std::uint64_t> descriptorLimit() { return std::nullopt; }

std::optional<std::uint64_t> openDescriptors() { return std::nullopt; }

void tuneHeap() {}
void trimHeap() {}

}  // namespace hostwire
