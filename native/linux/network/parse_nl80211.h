// Parsers of generic netlink's answers (include/uapi/linux/netlink.h, genetlink.h, nl80211.h): pure functions
// over bytes, in the machine's byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hostwire {

// One datagram of an answer: its contents, and whether more follows.
struct NetlinkPart {
  std::vector<std::string_view> payloads;  // after the generic netlink headers: attributes
  bool isLast = false;                     // the end of a dump, or an acknowledgement
  int error = 0;                           // an errno: the kernel refused
};

// The messages in `bytes` that answer the request numbered `sequence`. A truncated one is left out.
NetlinkPart parseNetlink(std::string_view bytes, std::uint32_t sequence);

// The number of a family, from the answer to CTRL_CMD_GETFAMILY.
std::optional<std::uint16_t> parseFamilyId(std::string_view attributes);

// From an answer to NL80211_CMD_GET_INTERFACE: an interface that is the client of an access point.
struct WifiInterface {
  std::uint32_t index = 0;
  bool isClient = false;
};
std::optional<WifiInterface> parseWifiInterface(std::string_view attributes);

// From an answer to NL80211_CMD_GET_STATION: the signal level at which the station was last received, in dBm.
std::optional<double> parseStationSignal(std::string_view attributes);

}  // namespace hostwire
