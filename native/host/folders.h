// Where the machine's own settings are, on systems that have no fixed path for them.
#pragma once

#include <optional>
#include <string>

namespace hostwire {

// The folder that holds programs' settings for all users (C:\ProgramData); nothing where paths are fixed.
std::optional<std::string> machineDataFolder();

}  // namespace hostwire
