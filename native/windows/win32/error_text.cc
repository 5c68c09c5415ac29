// The texts of Windows' errors.
#include "windows/win32/error_text.h"

#include <array>
#include <charconv>
#include <string_view>

#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// HRESULTs are usually given in hexadecimal.
std::string numberOf(unsigned long code) {
  std::array<char, 16> digits{};
  const bool isHresult = code > 0xFFFF;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), code, isHresult ? 16 : 10);
  return (isHresult ? "0x" : "") + std::string(digits.data(), end.ptr);
}

}  // namespace

std::string windowsErrorText(unsigned long code) {
  std::array<wchar_t, 512> buffer{};
  const DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                      code, 0, buffer.data(), static_cast<DWORD>(buffer.size()), nullptr);
  std::wstring_view text(buffer.data(), length);
  // Windows' texts end with a full stop and a newline, but reasons in hostwire end without.
  while (!text.empty() && std::wstring_view(L". \r\n").find(text.back()) != std::wstring_view::npos)
    text.remove_suffix(1);
  if (text.empty()) return "error " + numberOf(code);
  return toUtf8(text) + " (" + numberOf(code) + ")";
}

}  // namespace hostwire
