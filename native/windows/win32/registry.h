// Values of HKEY_LOCAL_MACHINE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hostwire {

// Returns an empty text if no value has that name, or it is not text.
std::string readRegistryText(const wchar_t* key, const wchar_t* name);
std::optional<std::uint32_t> readRegistryNumber(const wchar_t* key, const wchar_t* name);

}  // namespace hostwire
