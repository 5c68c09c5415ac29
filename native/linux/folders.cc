// Linux keeps the machine's settings in /etc.
#include "host/folders.h"

namespace hostwire {

std::optional<std::string> machineDataFolder() { return std::nullopt; }

}  // namespace hostwire
