// Parses decimal numbers in texts of the kernel and of firmware.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hostwire {

// Removes a number such as "-12.5", without an exponent, from the beginning of `text`; removes nothing if
// there is no number, or one beyond 1e300. Exact up to 15 digits; digits that a double cannot hold are
// ignored. std::from_chars parses doubles since GCC 11, but the shipped addon is built with Debian 11's GCC
// 10.
inline std::optional<double> takeDecimal(std::string_view& text) {
  constexpr double kMaxScale = 1e17;
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t first = at;
  double value = 0;
  double scale = 1;
  bool isFraction = false;
  bool hasDigit = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !isFraction) {
      isFraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    hasDigit = true;
    if (isFraction && scale >= kMaxScale) continue;
    value = value * 10 + (c - '0');
    if (isFraction) scale *= 10;
  }
  if (!hasDigit || !(value / scale <= 1e300)) return std::nullopt;
  text.remove_prefix(at);
  return first == 1 ? -value / scale : value / scale;
}

}  // namespace hostwire
