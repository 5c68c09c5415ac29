// Names of ARM cores and of their designers, by the numbers in their identification registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostwire {

// Returns "Phytium" for 0x70 ("CPU implementer" in proc_cpuinfo(5), MIDR_EL1.Implementer); empty if it is
// unknown.
std::string_view findArmImplementer(std::optional<std::uint64_t> implementer);

// Returns "FTC663" for the part 0x663 of 0x70 ("CPU part", MIDR_EL1.PartNum); empty if it is unknown.
std::string_view findArmCore(std::optional<std::uint64_t> implementer, std::uint64_t part);

}  // namespace hostwire
