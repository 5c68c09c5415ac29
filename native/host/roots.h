// Roots of the kernel's text files: a container can name the host's, a test its fixture's.
#pragma once

#include <string>

namespace hostwire {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  // Prefix of every other path that is read (/etc/os-release, mount points); "" on a real machine.
  std::string files;

  bool isDefault() const { return proc == "/proc" && sys == "/sys" && files.empty(); }
};

}  // namespace hostwire
