// Windows' text and ours.
#include "windows/unicode.h"

#include <windows.h>

#include <array>
#include <charconv>
#include <limits>

namespace hostwire {
namespace {

// The functions below count in int.
template <class Text>
int lengthOf(const Text& text) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(text.size() < kMost ? text.size() : kMost);
}

// HRESULTs are known by their hexadecimal form.
std::string numberOf(unsigned long code) {
  std::array<char, 16> digits{};
  const bool isHresult = code > 0xFFFF;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), code, isHresult ? 16 : 10);
  return (isHresult ? "0x" : "") + std::string(digits.data(), end.ptr);
}

}  // namespace

std::string toUtf8(std::wstring_view text) {
  const int length = lengthOf(text);
  if (length == 0) return {};
  const int size = WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(size > 0 ? size : 0), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), length, result.data(), size, nullptr, nullptr);
  return result;
}

std::wstring toWide(std::string_view text) {
  const int length = lengthOf(text);
  if (length == 0) return {};
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0);
  std::wstring result(static_cast<std::size_t>(size > 0 ? size : 0), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, result.data(), size);
  return result;
}

std::string windowsErrorText(unsigned long code) {
  std::array<wchar_t, 512> buffer{};
  const DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                      code, 0, buffer.data(), static_cast<DWORD>(buffer.size()), nullptr);
  std::wstring_view text(buffer.data(), length);
  // It ends with a full stop and a new line, and a reason is the end of a sentence of ours.
  while (!text.empty() && std::wstring_view(L". \r\n").find(text.back()) != std::wstring_view::npos)
    text.remove_suffix(1);
  if (text.empty()) return "error " + numberOf(code);
  return toUtf8(text) + " (" + numberOf(code) + ")";
}

}  // namespace hostwire
