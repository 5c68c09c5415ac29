// Makes a processor's own name readable; the same on every platform.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostwire {

// Removes "(R)", "(TM)", "CPU", the clock speed after "@" and repeated blanks.
std::string cleanBrand(std::string_view brand);

// Returns the speed after "@" in a brand ("… CPU @ 2.40GHz"), in Hz.
std::optional<double> parseBrandSpeed(std::string_view brand);

// Returns "Intel" for "GenuineIntel"; an unknown vendor unchanged.
std::string manufacturerOf(std::string_view vendorId);

}  // namespace hostwire
