// UTF-16 to UTF-8 and back, by the system's own converter.
#include "windows/win32/unicode.h"

#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// Longer texts would not fit the converter's int; no name is a thousandth as long.
constexpr std::size_t kMaxCharacters = 1U << 20U;

}  // namespace

std::string toUtf8(std::wstring_view text) {
  const auto length = static_cast<int>(text.substr(0, kMaxCharacters).size());
  if (length == 0) return {};
  const int needed = WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
  std::string converted(static_cast<std::size_t>(needed), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), length, converted.data(), needed, nullptr, nullptr);
  return converted;
}

std::wstring toWide(std::string_view text) {
  const auto length = static_cast<int>(text.substr(0, kMaxCharacters).size());
  if (length == 0) return {};
  const int needed = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0);
  std::wstring converted(static_cast<std::size_t>(needed), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, converted.data(), needed);
  return converted;
}

}  // namespace hostwire
