// Windows' own keyboard, as a function that a test can be in place of.
#pragma once

#include <windows.h>

#include <span>

namespace hostwire {

// As SendInput: how many of `inputs` went in; GetLastError() when not all did.
UINT sendInput(std::span<INPUT> inputs);

}  // namespace hostwire
