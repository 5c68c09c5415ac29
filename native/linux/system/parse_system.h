// Parsers of what a Linux machine is: its distribution, its processor's name.
#pragma once

#include <string>
#include <string_view>

#include "linux/cpu/parse_cpu.h"

namespace hostwire {

struct OsRelease {
  std::string name;     // NAME; "Linux" where it is not set, as os-release(5) says
  std::string version;  // VERSION, else VERSION_ID, else BUILD_ID ("rolling"); may be empty
};
// os-release(5): assignments in the shell's quoting, without its expansions.
OsRelease parseOsRelease(std::string_view text);

// Who made the processor and what it is called, for people: "Intel" and "Intel Core i7-8550U", "ARM" and
// "Cortex-A72".
struct ProcessorName {
  std::string manufacturer;
  std::string brand;
};
ProcessorName nameProcessor(const Cpuinfo& info);

// process.arch of Node for uname's machine; an unknown one as it is.
std::string nodeArchOf(std::string_view machine);

}  // namespace hostwire
