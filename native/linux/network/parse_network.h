// Parsers of Linux's texts about network interfaces, addresses and routes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/network.h"

namespace hostwire {

// Parses /proc/net/dev (proc_pid_net(5)): names as in the kernel (any bytes but blanks and '/'), and the
// counters. The header determines the columns. A line without byte counts is left out.
std::vector<InterfaceCounters> parseNetDev(std::string_view text);

struct InterfaceAddress {
  std::string name;  // the interface's, as in the kernel
  std::string text;  // "192.0.2.7", "2001:db8::7"
  bool isIpv6 = false;
  bool isLinkLocal = false;
  bool isLoopback = false;
};

// Parses /proc/net/if_inet6: the IPv6 addresses.
std::vector<InterfaceAddress> parseIfInet6(std::string_view text);

struct SignalLevel {
  std::string_view name;  // inside the parsed text
  double dbm = 0;
};

// Parses the level column of /proc/net/wireless. Drivers that do not mark it as dBm count it as 256 + dBm; a
// result outside a receiver's range (-150 to -1) is a driver's own scale and left out.
std::vector<SignalLevel> parseWireless(std::string_view text);

// Returns a hardware address in lower case. Nothing when it is all zero or shorter than six bytes: tunnels
// show an IPv4 address there.
std::optional<std::string> parseMac(std::string_view text);

// Returns the value of `key` in a sysfs uevent file ("DEVTYPE=vlan"); empty if it is missing.
std::string_view findUeventValue(std::string_view text, std::string_view key);

// The facts in /sys/class/net/NAME that determine the kind of an interface.
struct LinkFacts {
  std::optional<std::int64_t> type;  // ARPHRD_* of <linux/if_arp.h>
  std::string_view devtype;          // DEVTYPE of uevent
  bool hasDevice = false;
  bool isWireless = false;
  bool isBond = false;
  bool isBridge = false;
  bool hasTunFlags = false;
  std::string_view bus;       // of the device: "pci", "virtio", "xen-backend"
  std::string_view portName;  // phys_port_name: "p0", "pf0vf1"
};
InterfaceKind classifyLink(const LinkFacts& facts);

// Returns whether its bytes enter or leave the machine there. Not every interface with a device is hardware:
//
// | what has a device                 | its bytes                              | the kernel's source       |
// |-----------------------------------|----------------------------------------|---------------------------|
// | a monitor of a radio              | copies of others' frames               | <linux/if_arp.h>, 801 ff. |
// | the back end of a guest (Xen)     | the guest's: leave through hardware    | drivers/net/xen-netback   |
// | a representor of a function (VF)  | the function's: leave through its port | networking/representors   |
bool isHardware(const LinkFacts& facts);

// Returns whether the interface is of a kind that has no device, though a modem or another line may be below.
bool isLine(const LinkFacts& facts);

// Decides for each line whether it is hardware, once the counters are known: only where there is hardware of
// which none can carry it. What carries a line (PPPoE, PPP in the tunnel of a program) is up, and has counted
// at least as much. `pppoe` is /proc/net/pppoe: a session under its header is carried in any case.
void judgeLines(std::vector<InterfaceCounters>& links, std::string_view pppoe);

}  // namespace hostwire
