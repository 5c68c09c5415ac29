// Bytes made valid UTF-8.
#include "host/utf8.h"

#include <cstddef>

namespace hostwire {
namespace {

bool isContinuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The length of the valid sequence that `bytes` begins with; 0 when it begins with none.
std::size_t sequenceLength(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  const auto hasContinuations = [&](std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i)
      if (!isContinuation(static_cast<unsigned char>(at(i)))) return false;
    return true;
  };
  const auto first = at(0);
  const auto second = at(1);
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return hasContinuations(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool isOverlong = first == 0xE0U && second < 0xA0U;
    const bool isSurrogate = first == 0xEDU && second > 0x9FU;
    return !isOverlong && !isSurrogate && hasContinuations(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool isOverlong = first == 0xF0U && second < 0x90U;
    const bool isTooLarge = first == 0xF4U && second > 0x8FU;
    return !isOverlong && !isTooLarge && hasContinuations(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string toValidUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequenceLength(bytes);
    if (length == 0) {
      text += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

}  // namespace hostwire
