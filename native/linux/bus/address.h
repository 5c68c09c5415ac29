// Where the buses are.
#pragma once

#include <string>

namespace hostwire {

// Empty: there is none to go to, and `reason` says why.
struct BusAddress {
  std::string text;  // "unix:path=/run/dbus/system_bus_socket"
  std::string reason;
};

struct BusAddresses {
  BusAddress system;
  BusAddress session;
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
