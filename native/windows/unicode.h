// Windows' text and ours: UTF-16 and UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// What is no valid text becomes U+FFFD.
std::string toUtf8(std::wstring_view text);
std::wstring toWide(std::string_view text);

// "Access is denied (5)": what Windows says of an error or an HRESULT, and its number.
std::string windowsErrorText(unsigned long code);

}  // namespace hostwire
