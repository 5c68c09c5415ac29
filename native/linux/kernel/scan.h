// The small steps of all parsers of kernel text: lines, words, numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "host/decimal.h"

namespace hostwire {

// Removes the next line from `text` (without its newline). False at the end.
inline bool takeLine(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return true;
}

inline bool isBlank(char c) { return c == ' ' || c == '\t'; }

inline void skipBlanks(std::string_view& text) {
  std::size_t at = 0;
  while (at < text.size() && isBlank(text[at])) ++at;
  text.remove_prefix(at);
}

// Removes the next word (up to a blank) from `text`; empty at the end.
inline std::string_view takeWord(std::string_view& text) {
  skipBlanks(text);
  std::size_t end = 0;
  while (end < text.size() && !isBlank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Removes an unsigned number from `text`. Returns nothing if it does not begin with one; then only blanks are
// removed.
inline std::optional<std::uint64_t> takeUnsigned(std::string_view& text) {
  skipBlanks(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

inline std::optional<double> takeDouble(std::string_view& text) {
  skipBlanks(text);
  return takeDecimal(text);
}

// Parses a hexadecimal number that fills `text`, without a prefix.
inline std::optional<std::uint64_t> parseHex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace hostwire
