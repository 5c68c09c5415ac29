// Windows' own keyboard, as a function that a test can replace.
#pragma once

#include <windows.h>

#include <span>

namespace hostwire {

// Same as SendInput: returns how many of `inputs` were inserted; GetLastError() when not all were.
UINT sendInput(std::span<INPUT> inputs);

}  // namespace hostwire
