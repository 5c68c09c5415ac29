// What Windows says of its errors.
#pragma once

#include <string>

namespace hostwire {

// "Access is denied (5)": of an error or an HRESULT, and its number.
std::string windowsErrorText(unsigned long code);

}  // namespace hostwire
