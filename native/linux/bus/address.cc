// The addresses of the buses: the D-Bus specification, "Server Addresses" and "Well-known Message Bus
// Instances".
#include "linux/bus/address.h"

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace hostwire {
namespace {

BusAddress checked(const char* variable, const std::string& address) {
  const std::string problem = addressProblem(address);
  if (problem.empty()) return {address, "", std::nullopt};
  return {"", std::string(variable) + " " + problem, std::nullopt};
}

}  // namespace

std::string addressOfSocket(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string address = "unix:path=";
  for (const char character : path) {
    const auto byte = static_cast<unsigned char>(character);
    const bool isPlain =
        byte < 128 &&
        (std::isalnum(byte) != 0 || std::string_view("-_/.\\*").find(character) != std::string_view::npos);
    if (isPlain) {
      address += character;
    } else {
      address += '%';
      address += kDigits[byte >> 4U];
      address += kDigits[byte & 15U];
    }
  }
  return address;
}

std::string addressProblem(const std::string& address) {
  if (address.empty()) return "is empty: no bus is used";
  std::string_view rest = address;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(';'));
    rest.remove_prefix(entry.size() == rest.size() ? entry.size() : entry.size() + 1);
    // unixexec and x-machine-… start programs, which this service must not do.
    if (!entry.starts_with("unix:") && !entry.starts_with("tcp:"))
      return "names a transport that is not supported (only unix and tcp are)";
  }
  return "";
}

BusAddresses busAddressesOfEnvironment() {
  BusAddresses addresses;
  if (const char* set = std::getenv("DBUS_SYSTEM_BUS_ADDRESS"))
    addresses.system = checked("DBUS_SYSTEM_BUS_ADDRESS", set);
  else
    addresses.system.text = "unix:path=/run/dbus/system_bus_socket";
  const char* session = std::getenv("DBUS_SESSION_BUS_ADDRESS");
  const bool isSessionSet = session != nullptr;
  if (isSessionSet)
    addresses.session = checked("DBUS_SESSION_BUS_ADDRESS", session);
  else if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder == '/')
    addresses.session.text = addressOfSocket(std::string(folder) + "/bus");
  else
    addresses.session.reason = "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set";
  addresses.isSessionOfActiveUser = !isSessionSet && addresses.session.text.empty() && geteuid() == 0;
  return addresses;
}

}  // namespace hostwire
