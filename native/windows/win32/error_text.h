// The texts of Windows' errors.
#pragma once

#include <string>

namespace hostwire {

// Returns "Access is denied (5)": the text of an error or an HRESULT, and its number.
std::string windowsErrorText(unsigned long code);

}  // namespace hostwire
