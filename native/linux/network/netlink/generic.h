// Asks the kernel's Wi-Fi layer for the signal level of the access point. For a prober, because a driver may
// be slow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/network/netlink/netlink.h"

namespace hostwire {

// A generic netlink socket.
class GenericNetlink {
 public:
  GenericNetlink();
  // Returns the number of a message family; nothing if the kernel has none of this name. Throws HostError.
  std::optional<std::uint16_t> findFamily(std::string_view name);

  struct Attribute {
    std::uint16_t type = 0;
    std::string_view value;
  };
  struct Request {
    std::uint16_t family = 0;
    std::uint8_t command = 0;
    bool isDump = false;  // all objects instead of the one that the attributes name
    std::vector<Attribute> attributes;
  };
  // Returns the attributes of each object in the answer. Throws HostError when the kernel refuses or does not
  // answer.
  std::vector<std::string> ask(const Request& request);

 private:
  Netlink netlink_;
};

// Belongs to one prober's question: used by one thread at a time.
class WifiSignals {
 public:
  // Returns dBm by interface index, without interfaces that are not clients of an access point, or not
  // connected. Throws HostError.
  std::map<std::uint32_t, double> read();

 private:
  std::optional<double> readOne(std::uint32_t index);

  GenericNetlink netlink_;
  std::optional<std::uint16_t> family_;
};

}  // namespace hostwire
