// Text of Windows is UTF-16, that of the service UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// Valid UTF-8: what is no character becomes U+FFFD.
std::string toUtf8(std::wstring_view text);
std::wstring toWide(std::string_view text);

}  // namespace hostwire
