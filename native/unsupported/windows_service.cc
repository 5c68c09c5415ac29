// Refuses all: only Windows has a service control manager.
#include "host/windows_service.h"

#include <stdexcept>

namespace hostwire {
namespace {

constexpr const char* kReason = "this is for Windows services only";

}  // namespace

void beginService(const ServiceBegun& begun, const std::function<void()>&) { begun(kReason); }
void reportServiceRunning() {}
void reportServiceEnded(int) {}
std::vector<std::string> installService(const std::vector<std::string>&) {
  throw std::runtime_error(kReason);
}
void removeService() { throw std::runtime_error(kReason); }

}  // namespace hostwire
