// Generic netlink: answers made by hand through the parsers, and this kernel's own.
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "linux/network/netlink/generic.h"
#include "linux/network/netlink/parse_netlink.h"
#include "linux/network/netlink/parse_nl80211.h"

namespace {

using namespace hostwire;

int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  if (!holds) ++failures;
}

template <class T>
std::string bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string attribute(unsigned type, const std::string& value) {
  const auto length = static_cast<std::uint16_t>(NLA_HDRLEN + value.size());
  std::string whole = bytes(nlattr{length, static_cast<std::uint16_t>(type)}) + value;
  whole.resize((whole.size() + 3U) & ~std::size_t{3});
  return whole;
}

std::string message(std::uint16_t type, std::uint32_t sequence, const std::string& content) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + content.size());
  header.nlmsg_type = type;
  header.nlmsg_seq = sequence;
  std::string whole = bytes(header) + content;
  whole.resize((whole.size() + 3U) & ~std::size_t{3});
  return whole;
}

std::string generic(std::uint32_t sequence, const std::string& attributes) {
  genlmsghdr header{};
  header.cmd = NL80211_CMD_NEW_STATION;
  return message(0x1c, sequence, bytes(header) + attributes);
}

// As mac80211 answers: counters of 1, 4 and 8 bytes, and nested bit rates, in one nested attribute.
std::string stationOf(std::int8_t signal) {
  const std::string rate = attribute(NL80211_RATE_INFO_BITRATE32, bytes<std::uint32_t>(8667));
  const std::string info = attribute(NL80211_STA_INFO_INACTIVE_TIME, bytes<std::uint32_t>(12)) +
                           attribute(NL80211_STA_INFO_RX_BYTES64, bytes<std::uint64_t>(1ULL << 40U)) +
                           attribute(NL80211_STA_INFO_SIGNAL, bytes(signal)) +
                           attribute(NL80211_STA_INFO_SIGNAL_AVG, bytes<std::int8_t>(-60)) +
                           attribute(NL80211_STA_INFO_TX_BITRATE | NLA_F_NESTED, rate);
  return attribute(NL80211_ATTR_IFINDEX, bytes<std::uint32_t>(3)) +
         attribute(NL80211_ATTR_MAC, std::string("\x00\x00\x5e\x00\x53\x01", 6)) +
         attribute(NL80211_ATTR_STA_INFO | NLA_F_NESTED, info);
}

void checkStation() {
  const std::string dump = generic(7, stationOf(-56)) + generic(8, stationOf(-40)) +
                           message(NLMSG_DONE, 7, bytes<std::int32_t>(0));
  const NetlinkPart part = parseNetlink(dump, 7);
  check(part.payloads.size() == 1 && part.isLast && part.error == 0,
        "one answer to this request, then the end");
  check(!part.payloads.empty() && parseStationSignal(part.payloads[0].substr(GENL_HDRLEN)) == -56.0,
        "the signal of a station");
  check(parseStationSignal(stationOf(0)) == -60.0, "0 is no level: the average stands in");
  check(!parseStationSignal(stationOf(-56).substr(0, 20)), "no station information, no signal");
  for (std::size_t cut = 0; cut < dump.size(); ++cut)
    for (const auto payload : parseNetlink(std::string_view(dump).substr(0, cut), 7).payloads)
      check(parseStationSignal(payload.substr(GENL_HDRLEN)) == -56.0, "a whole message before the cut");
}

void checkInterface() {
  const auto of = [](std::uint32_t type) {
    return parseWifiInterface(attribute(NL80211_ATTR_IFINDEX, bytes<std::uint32_t>(5)) +
                              attribute(NL80211_ATTR_IFTYPE, bytes(type)));
  };
  check(of(NL80211_IFTYPE_STATION) && of(NL80211_IFTYPE_STATION)->isClient, "a client");
  check(of(NL80211_IFTYPE_STATION) && of(NL80211_IFTYPE_STATION)->index == 5, "its number");
  check(of(NL80211_IFTYPE_AP) && !of(NL80211_IFTYPE_AP)->isClient, "an access point is none");
  check(!parseWifiInterface(attribute(NL80211_ATTR_WIPHY, bytes<std::uint32_t>(0))),
        "a radio without interface");
}

void checkRefusal() {
  const NetlinkPart refused = parseNetlink(message(NLMSG_ERROR, 1, bytes<std::int32_t>(-ENODEV)), 1);
  check(refused.isLast && refused.error == ENODEV, "a refusal ends the answer");
  const NetlinkPart stopped = parseNetlink(message(NLMSG_DONE, 1, bytes<std::int32_t>(-EOPNOTSUPP)), 1);
  check(stopped.isLast && stopped.error == EOPNOTSUPP, "so does a dump that breaks off");
  const NetlinkPart absurd = parseNetlink(message(NLMSG_ERROR, 1, bytes<std::int32_t>(INT32_MIN)), 1);
  check(absurd.isLast && absurd.error == 0, "what is no errno is none");
}

void checkThisKernel() {
  GenericNetlink netlink;
  check(netlink.findFamily("nlctrl") == GENL_ID_CTRL, "the kernel names its own family");
  check(!netlink.findFamily("hostwire-none"), "a family that is not there");
  check(netlink.findFamily("nlctrl") == GENL_ID_CTRL, "the socket goes on after a refusal");
  const auto families = netlink.ask({GENL_ID_CTRL, CTRL_CMD_GETFAMILY, true, {}});
  bool hasController = false;
  for (const std::string& family : families)
    hasController = hasController || parseFamilyId(family) == GENL_ID_CTRL;
  check(hasController, "a dump of all families");
  WifiSignals signals;
  for (const auto& [index, level] : signals.read()) check(index > 0 && level < 0, "a level of a receiver");
}

}  // namespace

int main() {
  checkStation();
  checkInterface();
  checkRefusal();
  checkThisKernel();
  return failures == 0 ? 0 : 1;
}
