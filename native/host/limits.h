// What the operating system allows this process.
#pragma once

#include <cstdint>
#include <optional>

namespace hostwire {

// How many files and sockets may be open at a time; nothing where there is no such limit.
std::optional<std::uint64_t> descriptorLimit();

}  // namespace hostwire
