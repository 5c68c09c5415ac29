// The names of ARM's cores and of those who design them, by the numbers in their identification registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostwire {

// "Phytium" for 0x70 ("CPU implementer" in proc_cpuinfo(5), MIDR_EL1.Implementer); empty where it is not
// known.
std::string_view findArmImplementer(std::optional<std::uint64_t> implementer);

// "FTC663" for the part 0x663 of 0x70 ("CPU part", MIDR_EL1.PartNum); empty where it is not known.
std::string_view findArmCore(std::optional<std::uint64_t> implementer, std::uint64_t part);

}  // namespace hostwire
