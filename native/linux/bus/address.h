// The addresses of the buses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hostwire {

struct BusUser {
  std::uint32_t uid;
  std::uint32_t gid;
};

// An empty address: no bus to connect to, and `reason` says why.
struct BusAddress {
  std::string text;  // "unix:path=/run/dbus/system_bus_socket"
  std::string reason;
  std::optional<BusUser> as = std::nullopt;  // the user to connect as
};

struct BusAddresses {
  BusAddress system;
  BusAddress session;
  // The session bus is the active user's, which logind reports. Only for root.
  bool isSessionOfActiveUser = false;
};

// Reads the environment: DBUS_SYSTEM_BUS_ADDRESS, otherwise the system's socket; DBUS_SESSION_BUS_ADDRESS,
// otherwise $XDG_RUNTIME_DIR/bus. A variable that is set is used as it is, without a fallback. Call it while
// nothing changes the environment.
BusAddresses busAddressesOfEnvironment();

// Returns the address of a socket's path. Pure.
std::string addressOfSocket(const std::string& path);
// Returns the error in `address`; empty if it is valid. Pure. sd-bus would start programs for some addresses.
std::string addressProblem(const std::string& address);

}  // namespace hostwire
