// Uses RegGetValueW, which keeps no key open.
#include "windows/win32/registry.h"

#include <array>

#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {

std::string readRegistryText(const wchar_t* key, const wchar_t* name) {
  std::array<wchar_t, 512> text{};
  auto bytes = static_cast<DWORD>(sizeof text);
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, nullptr, text.data(), &bytes) !=
      ERROR_SUCCESS)
    return {};
  return toUtf8(text.data());  // zero-terminated by RegGetValueW
}

std::optional<std::uint32_t> readRegistryNumber(const wchar_t* key, const wchar_t* name) {
  DWORD number = 0;
  DWORD bytes = sizeof number;
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, nullptr, &number, &bytes) !=
      ERROR_SUCCESS)
    return std::nullopt;
  return number;
}

}  // namespace hostwire
