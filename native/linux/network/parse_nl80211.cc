// Netlink messages and their attributes.
#include "linux/network/parse_nl80211.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include <algorithm>
#include <cstring>

namespace hostwire {
namespace {

constexpr std::size_t aligned(std::size_t length) { return (length + 3U) & ~std::size_t{3}; }

// The next message or attribute begins at a multiple of four; a last one may end before that.
void skip(std::string_view& bytes, std::size_t length) {
  bytes.remove_prefix(std::min(bytes.size(), aligned(length)));
}

template <class T>
std::optional<T> valueOf(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

struct Attribute {
  unsigned type = 0;
  std::string_view value;
};

bool takeAttribute(std::string_view& bytes, Attribute& attribute) {
  const auto header = valueOf<nlattr>(bytes);
  if (!header || header->nla_len < NLA_HDRLEN || header->nla_len > bytes.size()) return false;
  attribute.type = header->nla_type & static_cast<unsigned>(NLA_TYPE_MASK);
  attribute.value = bytes.substr(NLA_HDRLEN, header->nla_len - static_cast<std::size_t>(NLA_HDRLEN));
  skip(bytes, header->nla_len);
  return true;
}

std::optional<std::string_view> findAttribute(std::string_view bytes, unsigned type) {
  Attribute attribute;
  while (takeAttribute(bytes, attribute))
    if (attribute.type == type) return attribute.value;
  return std::nullopt;
}

void takeMessage(NetlinkPart& part, std::uint16_t type, std::string_view content) {
  if (type == NLMSG_DONE || type == NLMSG_ERROR) {
    // A negative errno; 0 acknowledges, or ends a successful dump.
    const auto code = valueOf<std::int32_t>(content);
    part.isLast = true;
    part.error = code && *code < 0 && *code > -4096 ? -*code : 0;
  } else if (type >= NLMSG_MIN_TYPE && content.size() >= GENL_HDRLEN) {
    part.payloads.push_back(content.substr(GENL_HDRLEN));
  }
}

}  // namespace

NetlinkPart parseNetlink(std::string_view bytes, std::uint32_t sequence) {
  NetlinkPart part;
  while (const auto header = valueOf<nlmsghdr>(bytes)) {
    if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > bytes.size()) break;
    const std::string_view content =
        bytes.substr(NLMSG_HDRLEN, header->nlmsg_len - static_cast<std::size_t>(NLMSG_HDRLEN));
    if (header->nlmsg_seq == sequence) takeMessage(part, header->nlmsg_type, content);
    skip(bytes, header->nlmsg_len);
  }
  return part;
}

std::optional<std::uint16_t> parseFamilyId(std::string_view attributes) {
  return valueOf<std::uint16_t>(findAttribute(attributes, CTRL_ATTR_FAMILY_ID).value_or(std::string_view{}));
}

std::optional<WifiInterface> parseWifiInterface(std::string_view attributes) {
  const auto index =
      valueOf<std::uint32_t>(findAttribute(attributes, NL80211_ATTR_IFINDEX).value_or(std::string_view{}));
  const auto type =
      valueOf<std::uint32_t>(findAttribute(attributes, NL80211_ATTR_IFTYPE).value_or(std::string_view{}));
  if (!index) return std::nullopt;
  return WifiInterface{*index, type == NL80211_IFTYPE_STATION || type == NL80211_IFTYPE_P2P_CLIENT};
}

// The levels are single bytes that hold a signed number. Nothing outside a receiver's range.
std::optional<double> parseStationSignal(std::string_view attributes) {
  const auto information = findAttribute(attributes, NL80211_ATTR_STA_INFO);
  if (!information) return std::nullopt;
  for (const unsigned type : {NL80211_STA_INFO_SIGNAL, NL80211_STA_INFO_SIGNAL_AVG}) {
    const auto level = valueOf<std::int8_t>(findAttribute(*information, type).value_or(std::string_view{}));
    if (level && *level < 0) return static_cast<double>(*level);
  }
  return std::nullopt;
}

}  // namespace hostwire
