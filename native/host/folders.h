// The folder of the machine's settings, on systems without a fixed path for them.
#pragma once

#include <optional>
#include <string>

namespace hostwire {

// Returns the folder with programs' settings for all users (C:\ProgramData); nothing where paths are fixed.
std::optional<std::string> machineDataFolder();

}  // namespace hostwire
