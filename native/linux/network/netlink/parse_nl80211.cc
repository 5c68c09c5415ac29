// The attributes of generic netlink's controller and of nl80211.
#include "linux/network/netlink/parse_nl80211.h"

#include <linux/genetlink.h>
#include <linux/nl80211.h>

#include "linux/network/netlink/parse_netlink.h"

namespace hostwire {

std::optional<std::uint16_t> parseFamilyId(std::string_view attributes) {
  return valueOf<std::uint16_t>(findAttribute(attributes, CTRL_ATTR_FAMILY_ID));
}

std::optional<WifiInterface> parseWifiInterface(std::string_view attributes) {
  const auto index = valueOf<std::uint32_t>(findAttribute(attributes, NL80211_ATTR_IFINDEX));
  const auto type = valueOf<std::uint32_t>(findAttribute(attributes, NL80211_ATTR_IFTYPE));
  if (!index) return std::nullopt;
  return WifiInterface{*index, type == NL80211_IFTYPE_STATION || type == NL80211_IFTYPE_P2P_CLIENT};
}

// The levels are single bytes that hold a signed number. Returns nothing outside a receiver's range.
std::optional<double> parseStationSignal(std::string_view attributes) {
  const std::string_view information = findAttribute(attributes, NL80211_ATTR_STA_INFO);
  for (const unsigned type : {NL80211_STA_INFO_SIGNAL, NL80211_STA_INFO_SIGNAL_AVG}) {
    const auto level = valueOf<std::int8_t>(findAttribute(information, type));
    if (level && *level < 0) return static_cast<double>(*level);
  }
  return std::nullopt;
}

}  // namespace hostwire
