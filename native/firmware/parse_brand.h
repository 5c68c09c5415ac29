// The name that a processor gives itself, made fit for people; on every platform the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostwire {

// Without "(R)", "(TM)", "CPU", the clock speed after "@" and doubled blanks.
std::string cleanBrand(std::string_view brand);

// The speed after "@" in a brand ("… CPU @ 2.40GHz"), in Hz.
std::optional<double> parseBrandSpeed(std::string_view brand);

// "Intel" for "GenuineIntel"; what is not known stays as it is.
std::string manufacturerOf(std::string_view vendorId);

}  // namespace hostwire
