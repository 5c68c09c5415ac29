// UTF-8 repair.
#include "linux/kernel/text.h"

#include <algorithm>
#include <cstddef>

namespace hostwire {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The well-formed sequences of the Unicode standard, table 3-7: the number of bytes that follow a lead byte
// and the range of the first of them (no overlong forms, no surrogates, nothing above U+10FFFF).
struct Lead {
  std::size_t following = 0;  // 0: not the lead byte of a longer sequence
  unsigned char min = 0x80;
  unsigned char max = 0xBF;
};

Lead leadOf(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  return {};
}

struct Sequence {
  std::size_t length = 1;
  bool isValid = false;
};

// Returns the sequence at the start of `bytes`, or the maximal part of a broken one.
Sequence takeSequence(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first < 0x80) return {1, true};
  const Lead lead = leadOf(first);
  if (lead.following == 0) return {};
  for (std::size_t at = 1; at <= lead.following; ++at) {
    if (at == bytes.size()) return {at, false};
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const bool fits = at == 1 ? byte >= lead.min && byte <= lead.max : (byte & 0xC0U) == 0x80;
    if (!fits) return {at, false};
  }
  return {lead.following + 1, true};
}

// Copies `bytes`, calling `appendBroken(text, part)` for each broken part.
template <class AppendBroken>
std::string repair(std::string_view bytes, AppendBroken appendBroken) {
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = takeSequence(bytes);
    const std::string_view part = bytes.substr(0, sequence.length);
    if (sequence.isValid)
      text.append(part);
    else
      appendBroken(text, part);
    bytes.remove_prefix(sequence.length);
  }
  return text;
}

}  // namespace

std::string toValidUtf8(std::string_view bytes) {
  return repair(bytes, [](std::string& text, std::string_view) { text.append(kReplacement); });
}

std::string toDistinctUtf8(std::string_view bytes) {
  return repair(bytes, [](std::string& text, std::string_view part) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char c : part) {
      const auto byte = static_cast<unsigned char>(c);
      text.append("\\x").push_back(kDigits[byte >> 4U]);
      text.push_back(kDigits[byte & 15U]);
    }
  });
}

}  // namespace hostwire
