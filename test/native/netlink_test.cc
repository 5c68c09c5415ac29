// Netlink: answers made by hand through the parsers, and this kernel's own.
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/exposition.h"
#include "linux/kernel/scan.h"
#include "linux/metrics/parse_links.h"
#include "linux/network/netlink/generic.h"
#include "linux/network/netlink/link_table.h"
#include "linux/network/netlink/parse_link.h"
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

std::string message(std::uint16_t type, std::uint32_t sequence, const std::string& content,
                    std::uint16_t flags = 0) {
  nlmsghdr header{};
  header.nlmsg_flags = flags;
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

// The kernel's message about an interface; `state` is an IF_OPER_* of <linux/if.h>.
std::string linkOf(std::uint16_t type, unsigned flags, std::uint8_t state, const std::string& more = "") {
  ifinfomsg header{};
  header.ifi_index = 7;
  header.ifi_type = type;
  header.ifi_flags = flags;
  rtnl_link_stats64 stats{};
  stats.rx_bytes = 1ULL << 40U;
  stats.rx_dropped = 3;
  stats.rx_missed_errors = 4;
  stats.tx_bytes = 5;
  stats.tx_dropped = 6;
  return bytes(header) + attribute(IFLA_IFNAME, std::string("eth0\0", 5)) +
         attribute(IFLA_OPERSTATE, bytes(state)) + attribute(IFLA_STATS64, bytes(stats)) + more;
}

void checkLink() {
  const auto link = parseLink(linkOf(ARPHRD_ETHER, IFF_UP, 6, attribute(IFLA_MASTER, bytes(9U))));
  check(link && link->counters.name == "eth0" && link->counters.index == 7, "a link's name and index");
  check(link && link->counters.receivedBytes == 1ULL << 40U && link->counters.sentBytes == 5, "its bytes");
  check(link && link->counters.receiveDrops == 7 && link->counters.sendDrops == 6,
        "its drops are the sums of /proc/net/dev");
  check(link && link->counters.masterIndex == 9 && link->linkIndex == 7, "its master; on top of nothing");
  const std::string lower = attribute(IFLA_LINK, bytes(3U));
  const auto above = parseLink(linkOf(ARPHRD_ETHER, IFF_UP, 6, lower));
  check(above && above->linkIndex == 3, "a related interface");
  const auto far =
      parseLink(linkOf(ARPHRD_ETHER, IFF_UP, 6, lower + attribute(IFLA_LINK_NETNSID, bytes(0U))));
  check(far && far->linkIndex == 0, "one of another namespace is none, whatever its index");
  const std::string whole = linkOf(ARPHRD_ETHER, IFF_UP, 6);
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    check(!parseLink(std::string_view(whole).substr(0, cut)), "no counters, no link");
}

void checkCounters() {
  rtnl_link_stats64 stats{};
  stats.rx_bytes = 11;
  stats.tx_bytes = 12;
  if_stats_msg header{};
  header.ifindex = 7;
  const std::string message = bytes(header) + attribute(IFLA_STATS_LINK_64, bytes(stats));
  std::vector<InterfaceCounters> links(3);
  links[0].index = 2;
  links[1].index = 7;
  links[1].name = "eth0";
  links[2].index = 9;
  for (std::size_t cut = 0; cut < message.size(); ++cut)
    check(!updateCounters(links, std::string_view(message).substr(0, cut)), "no counters, no update");
  check(updateCounters(links, message), "counters of a known interface");
  check(links[1].receivedBytes == 11 && links[1].sentBytes == 12 && links[1].name == "eth0",
        "they are put beside its attributes");
  check(links[0].receivedBytes == 0 && links[2].receivedBytes == 0, "and nowhere else");
  links[1].index = 8;
  check(!updateCounters(links, message), "counters of an interface that is not in the list");
}

void checkUp() {
  const auto isUp = [](std::uint16_t type, unsigned flags, std::uint8_t state, const std::string& more = "") {
    const auto link = parseLink(linkOf(type, flags, state, more));
    return link && link->counters.isUp == true;
  };
  const auto carrier = [](std::uint8_t value) { return attribute(IFLA_CARRIER, bytes(value)); };
  check(isUp(ARPHRD_ETHER, IFF_UP, 6) && !isUp(ARPHRD_ETHER, IFF_UP, 2), "up and down");
  check(isUp(ARPHRD_NONE, IFF_UP, 0, carrier(1)), "unknown with a carrier is up");
  check(!isUp(ARPHRD_NONE, IFF_UP, 0, carrier(0)) && !isUp(ARPHRD_NONE, IFF_UP, 0), "and without one down");
  check(isUp(ARPHRD_LOOPBACK, IFF_UP, 0) && !isUp(ARPHRD_LOOPBACK, 0, 0), "the loopback has its flag");
}

void checkInterruption() {
  const NetlinkPart part = parseNetlink(message(RTM_NEWLINK, 1, "", NLM_F_DUMP_INTR), 1);
  check(part.isInterrupted && !part.isLast, "a dump during which the list changed");
  check(!parseNetlink(message(RTM_NEWLINK, 1, ""), 1).isInterrupted, "one during which it did not");
}

void checkThisTable() {
  const auto changes = std::make_shared<std::atomic<unsigned>>(0);
  LinkTable table(Roots{}, changes);
  for (int round = 0; round < 2; ++round) {
    const SharedReading reading = table.read();
    check(!reading->links.empty() && reading->takenAtNs > 0, "this machine's interfaces");
    for (const InterfaceCounters& one : reading->links)
      check(one.index == if_nametoindex(one.name.c_str()), "each under its index");
  }
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

std::vector<LinkMetrics> linksNamed(const std::vector<std::string>& names) {
  std::vector<LinkMetrics> links;
  for (const std::string& name : names) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(links.size()) + 1;
    const auto link = parseLinkMetrics(bytes(header) + attribute(IFLA_IFNAME, name + '\0') +
                                       attribute(IFLA_STATS64, bytes(rtnl_link_stats64{})));
    if (link) links.push_back(*link);
  }
  return links;
}

bool hasTwice(std::string_view text) {
  std::set<std::string_view> seen;
  std::string_view line;
  while (takeLine(text, line))
    if (!seen.insert(line.substr(0, line.rfind(' '))).second) return true;
  return false;
}

void checkMetrics() {
  Exposition out;
  writeLinks(linksNamed({"net\xFF", "net\xFE", "net\xE2\x82", "n\xC3\xA4t"}), out);
  const std::string& text = out.text();
  bool hasAll = true;
  for (const char* name : {R"("net\\xff")", R"("net\\xfe")", R"("net\\xe2\\x82")", "\"n\xC3\xA4t\""})
    hasAll = hasAll && text.find("node_network_up{device=" + std::string(name)) != std::string::npos;
  check(hasAll && !hasTwice(text), "interfaces whose names are not UTF-8 have series of their own");

  Exposition equal;
  writeLinks(linksNamed({"net", "net"}), equal);
  equal.family("again", "Help.", MetricType::kGauge);
  for (const std::uint64_t value : {1U, 2U}) equal.add(MetricValue(value));
  equal.add(MetricValue(3), {{"device", "net"}});
  const bool hasOthers = equal.text().find("again 1\nagain{device=\"net\"} 3\n") != std::string::npos;
  check(hasOthers && !hasTwice(equal.text()), "no series is written twice");
}

}  // namespace

int main() {
  checkStation();
  checkInterface();
  checkRefusal();
  checkLink();
  checkCounters();
  checkUp();
  checkInterruption();
  checkThisKernel();
  checkThisTable();
  checkMetrics();
  return failures == 0 ? 0 : 1;
}
