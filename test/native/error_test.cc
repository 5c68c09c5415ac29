// The symbols of errors: ours for each number that the C library knows.
#include <dlfcn.h>

#include <cerrno>
#include <string>

#include "checks.h"
#include "host/error.h"

namespace {

using hostwire::HostError;

// More than Linux has.
constexpr int kNumbers = 200;

void checkAgainstLibrary() {
  // glibc's own names, since 2.32.
  const auto nameOf = reinterpret_cast<const char* (*)(int)>(dlsym(RTLD_DEFAULT, "strerrorname_np"));
  for (int number = 1; number < kNumbers; ++number) {
    const std::string symbol = hostwire::systemErrorSymbol(number);
    const std::string otherwise = "ERRNO_" + std::to_string(number);
    const char* const name = nameOf != nullptr ? nameOf(number) : symbol.c_str();
    std::string wanted = name != nullptr ? name : otherwise;
    // One number on Linux; Node, and the rest of the service, know the name of the two that is shorter.
    if (number == EOPNOTSUPP) wanted = "ENOTSUP";
    checks::equal(symbol, wanted, std::to_string(number));
  }
}

void checkErrors() {
  checks::equal(HostError(EAGAIN, "x").symbol(), "EAGAIN", "the system's own");
  checks::equal(HostError(ENOMEDIUM, "x").symbol(), "ENOMEDIUM", "one that only Linux has");
  checks::equal(HostError(std::errc::not_supported, "x").symbol(), "ENOTSUP", "ours");
  checks::equal(HostError(std::errc::resource_unavailable_try_again, "x").symbol(), "EAGAIN", "ours");
  checks::check(HostError(std::errc::not_supported, "read it").operation() == "read it", "what failed");
}

}  // namespace

int main() {
  checkAgainstLibrary();
  checkErrors();
  return checks::report();
}
