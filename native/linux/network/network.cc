// Network interfaces of Linux: counters from /proc/net/dev, the rest from /sys/class/net.
#include "host/network.h"

#include <net/if.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "host/prober.h"
#include "host/recent.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"
#include "linux/network/addresses.h"
#include "linux/network/links.h"
#include "linux/network/netlink/link_watch.h"
#include "linux/network/parse_network.h"
#include "linux/network/wifi.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;

// Where changes are not reported (under other roots): masters may change, and an interface may be recreated
// under its old name.
constexpr std::chrono::seconds kAttributesInterval{10};
// Readings of one call while interfaces keep changing.
constexpr int kMaxAttempts = 3;

struct Link {
  std::string rawName;
  LinkAttributes attributes;
  std::uint32_t lowerIndex = 0;
  KeptFile operstate;
  KeptFile flags;
};

void findLowerLinks(const Roots& roots, std::vector<Link>& links) {
  std::unordered_map<std::uint32_t, const std::string*> names;
  for (const Link& link : links) names.emplace(link.attributes.index, &link.rawName);
  for (Link& link : links) {
    const std::uint32_t index = link.attributes.linkIndex;
    if (index == 0 || index == link.attributes.index) continue;
    const auto found = names.find(index);
    if (found != names.end() && isOnTopOf(linkFolder(roots, link.rawName), *found->second))
      link.lowerIndex = index;
  }
}

using Changes = std::shared_ptr<std::atomic<unsigned>>;

std::function<LinkDetails()> askDetails(const Roots& roots, const Changes& changes) {
  return [probe = std::make_shared<LinkProbe>(roots, changes)] { return probe->read(); };
}

std::function<WifiLevels()> askLevels(const Roots& roots) {
  return [probe = std::make_shared<WifiProbe>(roots)] { return probe->read(); };
}

bool hasUpFlag(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint32_t flags = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flags, 16);
  return error == std::errc{} && (flags & IFF_UP) != 0;
}

}  // namespace

struct NetworkReader::State {
  State(const Roots& givenRoots, ProberPool& probers)
      : roots(givenRoots),
        dev(netFolder(givenRoots) + "/dev"),
        details(probers, askDetails(givenRoots, changes)),
        levels(probers, askLevels(givenRoots)) {
    if (givenRoots.isDefault()) watch.emplace();
  }

  bool hasChanged() { return watch && watch->takeChange(); }
  bool isCurrent(const std::vector<InterfaceCounters>& counters) const;
  std::vector<InterfaceCounters> readCounters();
  void refreshLinks(const std::vector<InterfaceCounters>& counters);
  void addDetail(InterfaceCounters& counters, Link& link, const LinkDetail* detail);
  void addLevels(std::vector<InterfaceCounters>& counters);

  Roots roots;
  KeptFile dev;
  const Changes changes = std::make_shared<std::atomic<unsigned>>(0);  // of the links
  Prober<LinkDetails> details;
  Prober<WifiLevels> levels;  // separate from the details: a Wi-Fi driver delays only its own values
  std::optional<LinkWatch> watch;
  std::vector<Link> links;  // in the order of /proc/net/dev
  Clock::time_point refreshedAt;
  bool mustRefresh = false;  // interfaces changed during the last reading
  std::string buffer;
};

bool NetworkReader::State::isCurrent(const std::vector<InterfaceCounters>& counters) const {
  const bool isWatched = watch && watch->isOpen();
  return (isWatched || Clock::now() - refreshedAt < kAttributesInterval) &&
         std::equal(counters.begin(), counters.end(), links.begin(), links.end(),
                    [](const InterfaceCounters& a, const Link& b) { return a.name == b.rawName; });
}

// Counters and attributes of the same interfaces: where something changed in between, both are read again, so
// that no interface is shown with the index of its successor.
std::vector<InterfaceCounters> NetworkReader::State::readCounters() {
  bool isOutdated = hasChanged() || mustRefresh;
  for (int attempt = 1;; ++attempt) {
    auto counters = parseNetDev(dev.readShortRecords(buffer));
    if (!isOutdated && isCurrent(counters)) return counters;
    refreshLinks(counters);
    isOutdated = hasChanged();
    if (!isOutdated || attempt == kMaxAttempts) {
      mustRefresh = isOutdated;
      return counters;
    }
  }
}

void NetworkReader::State::refreshLinks(const std::vector<InterfaceCounters>& counters) {
  links.clear();
  ++*changes;
  for (const InterfaceCounters& one : counters) {
    const std::string folder = linkFolder(roots, one.name);
    links.push_back({one.name, readLinkAttributes(folder), 0, KeptFile(folder + "/operstate"),
                     KeptFile(folder + "/flags")});
  }
  findLowerLinks(roots, links);
  refreshedAt = Clock::now();
}

// Documentation/networking/operstates.rst: drivers that do not report a state leave "unknown", which counts
// as up while there is a carrier; the loopback never reports anything else.
void NetworkReader::State::addDetail(InterfaceCounters& counters, Link& link, const LinkDetail* detail) {
  std::string_view state = link.operstate.readShortRecordsIfPresent(buffer);
  if (state.ends_with('\n')) state.remove_suffix(1);
  if (state == "unknown" && counters.kind == InterfaceKind::kLoopback) {
    counters.isUp = hasUpFlag(link.flags.readShortRecordsIfPresent(buffer));
  } else if (state == "unknown") {
    if (detail != nullptr) counters.isUp = detail->hasCarrier.value_or(false);
  } else if (!state.empty()) {
    counters.isUp = state == "up";
  }
  if (detail == nullptr) return;
  counters.speedMbps = detail->speedMbps;
  counters.mac = detail->mac;
  counters.addresses = detail->addresses;
}

// Asked only where there is Wi-Fi.
void NetworkReader::State::addLevels(std::vector<InterfaceCounters>& counters) {
  const auto isWifi = [](const InterfaceCounters& one) { return one.kind == InterfaceKind::kWifi; };
  if (std::none_of(counters.begin(), counters.end(), isWifi)) return;
  const auto known = recentValue(levels.latest()).value_or(WifiLevels{});
  for (std::size_t at = 0; at < counters.size(); ++at) {
    const auto level = known.find(links[at].rawName);
    if (level != known.end() && isWifi(counters[at])) counters[at].signalDbm = level->second;
  }
}

NetworkReader::NetworkReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
NetworkReader::~NetworkReader() = default;

std::vector<InterfaceCounters> NetworkReader::read(bool withDetail) {
  auto counters = state_->readCounters();
  const LinkDetails details =
      withDetail ? recentValue(state_->details.latest()).value_or(nullptr) : LinkDetails{};
  for (std::size_t at = 0; at < counters.size(); ++at) {
    InterfaceCounters& one = counters[at];
    Link& link = state_->links[at];
    one.index = link.attributes.index;
    one.kind = link.attributes.kind;
    one.hasDevice = link.attributes.hasDevice;
    one.masterIndex = link.attributes.masterIndex;
    one.lowerIndex = link.lowerIndex;
    if (withDetail) {
      const LinkDetail* detail = nullptr;
      if (details) {
        const auto found = std::find_if(details->begin(), details->end(),
                                        [&](const LinkDetail& row) { return row.rawName == link.rawName; });
        if (found != details->end()) detail = &*found;
      }
      state_->addDetail(one, link, detail);
    }
    one.name = toValidUtf8(one.name);
  }
  if (withDetail) state_->addLevels(counters);
  return counters;
}

Findings NetworkReader::describe() {
  const std::string& source = state_->dev.path();
  return describeOrExplain("network", source, [&]() -> Findings {
    const auto counters = read(true);
    Findings findings{Finding::works("network", countOf(counters.size(), "interface") + " from " + source)};
    if (auto wifi = describeWifi(counters, state_->roots)) findings.push_back(std::move(*wifi));
    return findings;
  });
}

}  // namespace hostwire
