// SMBIOS structures: a header of 4 bytes, formatted fields, strings.
#include "firmware/parse_smbios.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hostwire {
namespace {

std::uint8_t byteAt(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

}  // namespace

std::optional<std::uint32_t> parseDmiMemoryModules(std::string_view table) {
  constexpr std::uint8_t kMemoryDevice = 17;
  constexpr std::uint8_t kEndOfTable = 127;
  constexpr std::size_t kHeaderBytes = 4;
  constexpr std::size_t kSizeOffset = 0x0C;  // a word; 0: nothing in the slot
  bool hasDevices = false;
  std::uint32_t populated = 0;
  while (table.size() >= kHeaderBytes) {
    const std::uint8_t type = byteAt(table, 0);
    const std::size_t length = byteAt(table, 1);
    if (type == kEndOfTable || length < kHeaderBytes || length > table.size()) break;
    if (type == kMemoryDevice && length >= kSizeOffset + 2) {
      hasDevices = true;
      if (byteAt(table, kSizeOffset) != 0 || byteAt(table, kSizeOffset + 1) != 0) ++populated;
    }
    // The structure's strings follow, and two zero bytes end it.
    const std::size_t end = table.find(std::string_view("\0\0", 2), length);
    if (end == std::string_view::npos) break;
    table.remove_prefix(end + 2);
  }
  if (!hasDevices) return std::nullopt;
  return populated;
}

std::string_view findSmbiosTable(std::string_view raw) {
  constexpr std::size_t kHeaderBytes = 8;
  constexpr std::size_t kLengthOffset = 4;  // four bytes, little endian
  if (raw.size() < kHeaderBytes) return {};
  std::size_t length = 0;
  for (std::size_t at = 0; at < 4; ++at)
    length |= static_cast<std::size_t>(byteAt(raw, kLengthOffset + at)) << (8 * at);
  return raw.substr(kHeaderBytes, length);
}

std::optional<std::string> nameModel(std::string_view maker, std::string_view product) {
  constexpr std::array<std::string_view, 7> kPlaceholders{"To Be Filled By O.E.M.",
                                                          "To be filled by O.E.M.",
                                                          "System Product Name",
                                                          "System manufacturer",
                                                          "Default string",
                                                          "Not Applicable",
                                                          "None"};
  const auto isName = [&](std::string_view text) {
    return !text.empty() && std::ranges::find(kPlaceholders, text) == kPlaceholders.end();
  };
  if (!isName(product)) return std::nullopt;
  if (!isName(maker) || product.starts_with(maker)) return std::string(product);
  return std::string(maker) + " " + std::string(product);
}

}  // namespace hostwire
