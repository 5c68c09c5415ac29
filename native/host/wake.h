// Wake-on-LAN in both directions: where packets that wake others are sent, and whether this machine's own
// cards wait for one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

// An IPv4 address of an interface that is up, has a link and can broadcast; never of the loopback.
struct BroadcastAddress {
  std::string name;     // the interface's
  std::string address;  // "192.0.2.7"
  // "192.0.2.255"; absent in a network of one or two addresses, which has none.
  std::optional<std::string> broadcast;
};

// Returns those of this process's own network, whatever the roots. May wait for the kernel's network
// configuration lock, so it must not run on the JavaScript thread. Throws HostError.
std::vector<BroadcastAddress> readBroadcastAddresses();

// Wake-on-LAN of a network card; only those with hardware of their own are listed.
struct WakeOnLan {
  std::string name;
  // Whether any of the events that the card waits for wakes the machine; absent if that cannot be read.
  std::optional<bool> isEnabled;
  // The card's own answer: the events that it supports, and those that it waits for, as ethtool(8)'s header
  // names them ("magic", "broadcast").
  std::optional<std::vector<std::string>> supported;
  std::optional<std::vector<std::string>> armed;
  // Why the card did not answer.
  std::optional<std::string> failure;
};

// Waits for the kernel's network configuration lock for at most a second, so it must not run on the
// JavaScript thread. Throws HostError where the platform does not report it.
std::vector<WakeOnLan> readWakeOnLan(const Roots& roots);

}  // namespace hostwire
