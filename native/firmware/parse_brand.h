// A processor's own name, made readable; the same on every platform.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostwire {

// Without "(R)", "(TM)", "CPU", the clock speed after "@" and repeated blanks.
std::string cleanBrand(std::string_view brand);

// The speed after "@" in a brand ("… CPU @ 2.40GHz"), in Hz.
std::optional<double> parseBrandSpeed(std::string_view brand);

// "Intel" for "GenuineIntel"; an unknown vendor stays as it is.
std::string manufacturerOf(std::string_view vendorId);

}  // namespace hostwire
