// Which process listens on a port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hostwire {

struct PortHolder {
  int pid = 0;
  std::string name;
};

// Reads the files of every process, which takes milliseconds: for a start that has failed. Nothing: nobody
// listens, or another user's process, or not known on this platform.
std::optional<PortHolder> findPortHolder(std::uint16_t port);

}  // namespace hostwire
