// Where the buses are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hostwire {

struct BusUser {
  std::uint32_t uid;
  std::uint32_t gid;
};

// Empty: there is none to go to, and `reason` says why.
struct BusAddress {
  std::string text;  // "unix:path=/run/dbus/system_bus_socket"
  std::string reason;
  std::optional<BusUser> as = std::nullopt;  // whom it must be connected to as
};

struct BusAddresses {
  BusAddress system;
  BusAddress session;
  // The session bus is that of whoever sits at the machine: logind knows. Only for root.
  bool isSessionOfActiveUser = false;
};

// As the environment has them: DBUS_SYSTEM_BUS_ADDRESS, else the system's socket; DBUS_SESSION_BUS_ADDRESS,
// else $XDG_RUNTIME_DIR/bus. One that is set is used as it is and nothing else in its place. Call it where
// nothing changes the environment meanwhile.
BusAddresses busAddressesOfEnvironment();

// The address of a socket's path. Pure.
std::string addressOfSocket(const std::string& path);
// What is wrong with `address`; empty if nothing is. Pure. sd-bus would start programs for some.
std::string addressProblem(const std::string& address);

}  // namespace hostwire
