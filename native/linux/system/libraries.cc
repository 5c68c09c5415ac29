// The C library and the library for D-Bus.
#include "linux/system/libraries.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "linux/bus/sd_bus.h"

namespace hostwire {
namespace {

// The version for which prebuilt binaries are built, that of Debian 11. A binary that was built here needs
// the version of this machine; without it the binary is not loaded, so this row is not requested.
constexpr long kOldestMinor = 31;

}  // namespace

Finding judgeCLibrary(const char* version) {
  const std::string subject = "c-library";
  if (version == nullptr)
    return Finding::partly(subject, "not the GNU C library", {"hostwire is tested with glibc only", ""});
  const std::string source = std::string("glibc ") + version;
  char* rest = nullptr;
  const long major = std::strtol(version, &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  if (major > 2 || (major == 2 && minor >= kOldestMinor)) return Finding::works(subject, source);
  return Finding::partly(
      subject, source,
      {"hostwire is built for glibc 2.31 or later", "use Debian 11 or another newer system"});
}

Findings describeLibraries() {
  // The type in <gnu/libc-version.h>, which only glibc has.
  using GetVersion = const char* (*)();
  const auto getVersion = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  return {judgeCLibrary(getVersion != nullptr ? getVersion() : nullptr), describeBusLibrary()};
}

}  // namespace hostwire
