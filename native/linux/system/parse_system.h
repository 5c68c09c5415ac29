// Parsers for a Linux machine's distribution and processor name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "linux/cpu/parse_cpu.h"

namespace hostwire {

// Fields of os-release(5): assignments in the shell's quoting, without its expansions; the last one of a key
// counts.
using OsReleaseFields = std::map<std::string, std::string, std::less<>>;
OsReleaseFields parseOsReleaseFields(std::string_view text);

struct OsRelease {
  std::string name;     // NAME; "Linux" if it is not set, as in os-release(5)
  std::string version;  // VERSION, otherwise VERSION_ID, otherwise BUILD_ID ("rolling"); may be empty
};
OsRelease parseOsRelease(std::string_view text);

// The processor's manufacturer and display name: "Intel" and "Intel Core i7-8550U", "ARM" and "Cortex-A72".
struct ProcessorName {
  std::string manufacturer;
  std::string brand;
};
ProcessorName nameProcessor(const Cpuinfo& info);

// Returns Node's process.arch for uname's machine; an unknown one unchanged.
std::string nodeArchOf(std::string_view machine);

}  // namespace hostwire
