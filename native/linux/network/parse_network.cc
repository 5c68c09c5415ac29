// Interfaces, addresses and routes.
#include "linux/network/parse_network.h"

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

using Counter = std::uint64_t InterfaceCounters::*;

struct ColumnName {
  std::string_view name;
  Counter received;
  Counter sent;
};

constexpr std::array<ColumnName, 4> kColumnNames{{
    {"bytes", &InterfaceCounters::receivedBytes, &InterfaceCounters::sentBytes},
    {"packets", &InterfaceCounters::receivedPackets, &InterfaceCounters::sentPackets},
    {"errs", &InterfaceCounters::receiveErrors, &InterfaceCounters::sendErrors},
    {"drop", &InterfaceCounters::receiveDrops, &InterfaceCounters::sendDrops},
}};

constexpr std::size_t kMaxColumns = 64;
// Avoids growing the list in most readings.
constexpr std::size_t kUsualLinks = 8;

// Destination of each column's number; nullptr for unused columns.
struct Columns {
  std::array<Counter, kMaxColumns> targets{};
  std::size_t count = 0;
  std::size_t bytesColumns = 0;

  void add(std::string_view names, Counter ColumnName::*direction) {
    for (auto name = takeWord(names); !name.empty() && count < kMaxColumns; name = takeWord(names)) {
      const auto known = std::find_if(kColumnNames.begin(), kColumnNames.end(),
                                      [&](const ColumnName& row) { return row.name == name; });
      if (known != kColumnNames.end()) targets.at(count) = (*known).*direction;
      if (known == kColumnNames.begin()) ++bytesColumns;
      ++count;
    }
  }
};

// Parses " face |bytes packets errs …|bytes packets errs …".
Columns parseColumns(std::string_view header) {
  Columns columns;
  const std::size_t first = header.find('|');
  const std::size_t second = header.find('|', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return columns;
  columns.add(header.substr(first + 1, second - first - 1), &ColumnName::received);
  columns.add(header.substr(second + 1), &ColumnName::sent);
  return columns;
}

constexpr std::string_view kUsualHeader =
    "|bytes    packets errs drop fifo frame compressed multicast"
    "|bytes    packets errs drop fifo colls carrier compressed";

std::optional<unsigned> hexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

std::optional<in6_addr> parseIpv6Digits(std::string_view digits) {
  in6_addr address{};
  if (digits.size() != 2 * sizeof address.s6_addr) return std::nullopt;
  for (std::size_t at = 0; at < sizeof address.s6_addr; ++at) {
    const auto high = hexDigit(digits[2 * at]);
    const auto low = hexDigit(digits[2 * at + 1]);
    if (!high || !low) return std::nullopt;
    address.s6_addr[at] = static_cast<std::uint8_t>(*high * 16 + *low);
  }
  return address;
}

}  // namespace

std::vector<InterfaceCounters> parseNetDev(std::string_view text) {
  std::vector<InterfaceCounters> links;
  links.reserve(kUsualLinks);
  Columns columns;
  std::string_view line;
  while (takeLine(text, line)) {
    if (line.find('|') != std::string_view::npos && line.find(':') == std::string_view::npos) {
      // The header has been the same since Linux 2.2: it is parsed once.
      static const Columns usual = parseColumns(kUsualHeader);
      columns = line.ends_with(kUsualHeader) ? usual : parseColumns(line);
      continue;
    }
    // Uses the last colon: alias names ("eth0:1") contain one too, and old kernels print no blank before the
    // numbers.
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    skipBlanks(name);
    line.remove_prefix(colon + 1);
    InterfaceCounters link;
    std::size_t bytesRead = 0;
    for (std::size_t at = 0; at < columns.count; ++at) {
      const auto value = takeUnsigned(line);
      if (!value) break;
      const Counter target = columns.targets.at(at);
      if (target == nullptr) continue;
      link.*target = *value;
      if (target == &InterfaceCounters::receivedBytes || target == &InterfaceCounters::sentBytes) ++bytesRead;
    }
    if (name.empty() || bytesRead != 2) continue;
    link.name = name;
    links.push_back(std::move(link));
  }
  return links;
}

std::vector<InterfaceAddress> parseIfInet6(std::string_view text) {
  constexpr std::uint64_t kLinkLocalScope = 0x20;
  constexpr std::uint64_t kLoopbackScope = 0x10;
  std::vector<InterfaceAddress> addresses;
  std::string_view line;
  while (takeLine(text, line)) {
    const auto digits = parseIpv6Digits(takeWord(line));
    takeWord(line);  // the interface's index
    takeWord(line);  // the prefix length
    const auto scope = parseHex(takeWord(line));
    takeWord(line);  // flags
    const std::string_view name = takeWord(line);
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    if (!digits || !scope || name.empty()) continue;
    if (inet_ntop(AF_INET6, &*digits, buffer.data(), buffer.size()) == nullptr) continue;
    addresses.push_back(
        {std::string(name), buffer.data(), true, *scope == kLinkLocalScope, *scope == kLoopbackScope});
  }
  return addresses;
}

std::vector<SignalLevel> parseWireless(std::string_view text) {
  std::vector<SignalLevel> levels;
  std::string_view line;
  while (takeLine(text, line)) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    skipBlanks(name);
    line.remove_prefix(colon + 1);
    takeWord(line);  // status
    takeWord(line);  // link quality
    auto level = takeDouble(line);
    if (level && *level > 0) *level -= 256;
    if (level && *level >= -150 && *level < 0) levels.push_back({name, *level});
  }
  return levels;
}

std::optional<std::string> parseMac(std::string_view text) {
  constexpr std::size_t kLeastLength = 17;  // six bytes: "00:00:5e:00:53:01"
  while (!text.empty() && (text.back() == '\n' || isBlank(text.back()))) text.remove_suffix(1);
  if (text.size() < kLeastLength || text.size() % 3 != 2) return std::nullopt;
  std::string mac;
  bool isZero = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (at % 3 == 2 ? c != ':' : !hexDigit(c)) return std::nullopt;
    isZero = isZero && (c == '0' || c == ':');
    mac.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  if (isZero) return std::nullopt;
  return mac;
}

std::string_view findUeventValue(std::string_view text, std::string_view key) {
  std::string_view line;
  while (takeLine(text, line))
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) return line.substr(key.size() + 1);
  return {};
}

InterfaceKind classifyLink(const LinkFacts& facts) {
  constexpr std::int64_t kIpv6Gre = 823;  // ARPHRD_IP6GRE of <linux/if_arp.h>, which libc's header lacks
  if (facts.type == ARPHRD_LOOPBACK) return InterfaceKind::kLoopback;
  if (facts.isWireless) return InterfaceKind::kWifi;
  if (facts.isBond) return InterfaceKind::kBond;
  if (facts.isBridge) return InterfaceKind::kBridge;
  if (facts.devtype == "vlan") return InterfaceKind::kVlan;
  // A modem in raw IP mode has ARPHRD_NONE as well, but its own hardware.
  const bool isTunnelType = !facts.hasDevice && (facts.type == ARPHRD_NONE || facts.type == ARPHRD_TUNNEL ||
                                                 facts.type == ARPHRD_TUNNEL6 || facts.type == ARPHRD_SIT ||
                                                 facts.type == ARPHRD_IPGRE || facts.type == kIpv6Gre);
  const bool isTunnelDriver = facts.devtype == "wireguard" || facts.devtype == "vxlan" ||
                              facts.devtype == "geneve" || facts.devtype == "gretap";
  if (facts.hasTunFlags || isTunnelType || isTunnelDriver) return InterfaceKind::kTunnel;
  if (facts.type == ARPHRD_ETHER && facts.hasDevice) return InterfaceKind::kEthernet;
  return InterfaceKind::kOther;
}

bool isHardware(const LinkFacts& facts) {
  const bool isMonitor = facts.type == ARPHRD_IEEE80211 || facts.type == ARPHRD_IEEE80211_PRISM ||
                         facts.type == ARPHRD_IEEE80211_RADIOTAP;
  // "pf0vf1", "c1pf0sf3", "p0pf0vf1"; a physical port is "p0" or, split, "p0s1" (net/core/devlink.c).
  const bool isRepresentor = facts.portName.find("pf") != std::string_view::npos;
  return facts.hasDevice && !isMonitor && !isRepresentor && facts.bus != "xen-backend";
}

bool isLine(const LinkFacts& facts) {
  return !facts.hasDevice && (facts.type == ARPHRD_PPP || facts.type == ARPHRD_ATM ||
                              (facts.type >= ARPHRD_SLIP && facts.type <= ARPHRD_CSLIP6));
}

void judgeLines(std::vector<InterfaceCounters>& links, std::string_view pppoe) {
  std::vector<const InterfaceCounters*> hardware;
  for (const InterfaceCounters& one : links)
    if (one.hasDevice && !one.isLine) hardware.push_back(&one);
  std::string_view header;
  const bool isCarried = takeLine(pppoe, header) && !pppoe.empty();
  for (InterfaceCounters& line : links) {
    if (!line.isLine) continue;
    line.hasDevice = !hardware.empty() && !isCarried &&
                     std::none_of(hardware.begin(), hardware.end(), [&](const InterfaceCounters* one) {
                       return one->isUp != false && one->receivedBytes >= line.receivedBytes &&
                              one->sentBytes >= line.sentBytes;
                     });
  }
}

}  // namespace hostwire
