// Finds the process that listens on a port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hostwire {

struct PortHolder {
  int pid = 0;
  std::string name;
};

// Reads the files of every process, which takes milliseconds: for use after a failed start. Returns nothing
// if no process listens there, if it belongs to another user, or if the platform does not report it.
std::optional<PortHolder> findPortHolder(std::uint16_t port);

}  // namespace hostwire
