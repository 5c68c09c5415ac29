// /proc/net/route and /proc/net/ipv6_route.
#include "linux/network/parse_route.h"

#include <cstdint>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

// RTF_UP and RTF_REJECT of <linux/route.h>; "unreachable default" is a route too.
bool isUsableRoute(std::uint64_t flags) { return (flags & 0x1U) != 0 && (flags & 0x200U) == 0; }

bool isAllZero(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of('0') == std::string_view::npos;
}

// Keeps the name of the route with the lowest metric; of equal ones the first.
struct BestRoute {
  std::optional<std::string_view> name;
  std::uint64_t metric = 0;

  void offer(std::string_view candidate, std::uint64_t itsMetric) {
    if (candidate.empty() || (name && metric <= itsMetric)) return;
    name = candidate;
    metric = itsMetric;
  }
};

}  // namespace

std::optional<std::string_view> parseDefaultRoute(std::string_view text) {
  BestRoute best;
  std::string_view line;
  while (takeLine(text, line)) {
    // Iface Destination Gateway Flags RefCnt Use Metric Mask
    const std::string_view name = takeWord(line);
    const bool isDefault = isAllZero(takeWord(line));
    takeWord(line);
    const auto flags = parseHex(takeWord(line));
    takeUnsigned(line);
    takeUnsigned(line);
    const auto metric = takeUnsigned(line);
    if (isDefault && isAllZero(takeWord(line)) && flags && metric && isUsableRoute(*flags))
      best.offer(name, *metric);
  }
  return best.name;
}

std::optional<std::string_view> parseDefaultRouteIpv6(std::string_view text) {
  BestRoute best;
  std::string_view line;
  while (takeLine(text, line)) {
    // destination, its prefix length, source, its prefix length, next hop, metric, references, use, flags,
    // name
    const bool isDefault = isAllZero(takeWord(line)) && isAllZero(takeWord(line));
    if (!isDefault) continue;
    takeWord(line);
    takeWord(line);
    takeWord(line);
    const auto metric = parseHex(takeWord(line));
    takeWord(line);
    takeWord(line);
    const auto flags = parseHex(takeWord(line));
    const std::string_view name = takeWord(line);
    if (metric && flags && isUsableRoute(*flags) && name != "lo") best.offer(name, *metric);
  }
  return best.name;
}

}  // namespace hostwire
