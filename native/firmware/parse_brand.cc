// Processors' names: CPUID's brand string and vendor.
#include "firmware/parse_brand.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/decimal.h"

namespace hostwire {
namespace {

constexpr std::string_view kBlanks = " \t";

void removeAll(std::string& text, std::string_view what) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.erase(at, what.size());
}

void skipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Returns the next word; empty at the end.
std::string_view takeWord(std::string_view& text) {
  skipBlanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string manufacturerOf(std::string_view vendorId) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kVendors{
      {{"GenuineIntel", "Intel"},
       {"AuthenticAMD", "AMD"},
       {"HygonGenuine", "Hygon"},
       {"CentaurHauls", "VIA"},
       {"Shanghai", "Zhaoxin"},
       {"GenuineTMx86", "Transmeta"},
       {"IBM/S390", "IBM"}}};
  for (const auto& [id, name] : kVendors)
    if (vendorId == id) return std::string(name);
  return std::string(vendorId);
}

std::string cleanBrand(std::string_view brand) {
  std::string text(brand.substr(0, brand.find('@')));
  for (const std::string_view mark : {"(R)", "(r)", "(TM)", "(tm)", "(C)"}) removeAll(text, mark);
  // In Intel's names "CPU" carries no information; in "QEMU Virtual CPU version 2.5+" it does.
  const bool isIntel = text.starts_with("Intel");
  std::string cleaned;
  std::string_view rest = text;
  for (auto word = takeWord(rest); !word.empty(); word = takeWord(rest)) {
    if (isIntel && word == "CPU") continue;
    if (!cleaned.empty()) cleaned.push_back(' ');
    cleaned += word;
  }
  return cleaned;
}

std::optional<double> parseBrandSpeed(std::string_view brand) {
  const std::size_t at = brand.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  brand.remove_prefix(at + 1);
  skipBlanks(brand);
  const auto number = takeDecimal(brand);
  // No processor is faster.
  if (!number || !(*number > 0 && *number <= 1e6)) return std::nullopt;
  const std::string_view unit = takeWord(brand);
  if (unit.starts_with("GHz")) return *number * 1e9;
  if (unit.starts_with("MHz")) return *number * 1e6;
  return std::nullopt;
}

}  // namespace hostwire
