// Converts between Windows' UTF-16 and the service's UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// Returns valid UTF-8: unpaired surrogates become U+FFFD.
std::string toUtf8(std::wstring_view text);
std::wstring toWide(std::string_view text);

}  // namespace hostwire
