// systemd only requires a service to run, and its units are files (packaging/).
#include "host/windows_service.h"

#include <stdexcept>

namespace hostwire {
namespace {

constexpr const char* kReason =
    "this is for Windows services only: on Linux, use the systemd units of packaging/systemd (see "
    "docs/operating.md)";

}  // namespace

void beginService(const ServiceBegun& begun, const std::function<void()>&) { begun(kReason); }
void reportServiceRunning() {}
void reportServiceEnded(int) {}
std::vector<std::string> installService(const std::vector<std::string>&) {
  throw std::runtime_error(kReason);
}
void removeService() { throw std::runtime_error(kReason); }

}  // namespace hostwire
