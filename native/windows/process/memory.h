// The parameters a process was started with, which Windows keeps in the process's own memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "windows/win32/win32.h"

namespace hostwire {

struct ProcessParameters {
  std::optional<std::string> folder;
  std::vector<std::string> command;  // empty: hidden
};

// The process may have changed both since. `process` must be open for reading its memory; otherwise all is
// hidden.
ProcessParameters readProcessParameters(HANDLE process);

}  // namespace hostwire
