// Where the kernel's text files are, so that a container can name the host's and a test its fixture's.
#pragma once

#include <string>

namespace hostwire {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  // Prefixed to every other path the readers look at (/etc/os-release, mount points); "" on a real machine.
  std::string files;

  bool isDefault() const { return proc == "/proc" && sys == "/sys" && files.empty(); }
};

}  // namespace hostwire
