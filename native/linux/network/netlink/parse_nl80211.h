// Parsers of generic netlink's answers (include/uapi/linux/genetlink.h, nl80211.h), from the attributes on:
// pure functions over bytes, in the machine's byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostwire {

// Returns the number of a family, from the answer to CTRL_CMD_GETFAMILY.
std::optional<std::uint16_t> parseFamilyId(std::string_view attributes);

// Parses an answer to NL80211_CMD_GET_INTERFACE: an interface that is the client of an access point.
struct WifiInterface {
  std::uint32_t index = 0;
  bool isClient = false;
};
std::optional<WifiInterface> parseWifiInterface(std::string_view attributes);

// Parses an answer to NL80211_CMD_GET_STATION: the signal level at which the station was last received, in
// dBm.
std::optional<double> parseStationSignal(std::string_view attributes);

}  // namespace hostwire
