// Counters from /proc/net/dev, attributes from /sys/class/net.
#include "linux/network/link_files.h"

#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "linux/network/addresses.h"
#include "linux/network/parse_network.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;

// Interval under other roots, where changes are not reported: masters may change, and an interface may be
// recreated under its old name.
constexpr std::chrono::seconds kAttributesInterval{10};
// Longest line of /proc/net/dev: a name of 15 bytes and 16 numbers of up to 20 digits.
constexpr std::size_t kLongestLine = 360;
// Maximum number of readings per call while interfaces keep changing.
constexpr int kMaxAttempts = 3;

// Returns nothing if `text` has no flags.
std::optional<bool> hasUpFlag(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint32_t flags = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flags, 16);
  if (error != std::errc{}) return std::nullopt;
  return (flags & IFF_UP) != 0;
}

}  // namespace

LinkFiles::LinkFiles(const Roots& roots, LinkChanges changes)
    : roots_(roots), changes_(std::move(changes)), dev_(netFolder(roots) + "/dev") {
  if (roots.isDefault()) watch_.emplace();
}

bool LinkFiles::isCurrent(const std::vector<InterfaceCounters>& counters) const {
  const bool isWatched = watch_ && watch_->isOpen();
  return (isWatched || Clock::now() - refreshedAt_ < kAttributesInterval) &&
         std::equal(counters.begin(), counters.end(), links_.begin(), links_.end(),
                    [](const InterfaceCounters& a, const Link& b) { return a.name == b.name; });
}

// If anything changed since the last reading, both are read again until nothing did in between, so that no
// interface is shown with the index of its successor. By the time that the successor of an interface appears,
// the message of the removal has arrived.
std::optional<std::vector<InterfaceCounters>> LinkFiles::read(std::size_t maxLinks) {
  const std::size_t maxBytes = maxLinks < SIZE_MAX / kLongestLine ? (maxLinks + 3) * kLongestLine : SIZE_MAX;
  for (int attempt = 1;; ++attempt) {
    auto counters = parseNetDev(dev_.readShortRecords(buffer_, maxBytes));
    if (counters.size() > maxLinks) return std::nullopt;
    const bool isOutdated = hasChanged() || mustRefresh_ || !isCurrent(counters);
    if (isOutdated) refresh(counters);
    mustRefresh_ = isOutdated && attempt == kMaxAttempts;
    if (isOutdated && !mustRefresh_) continue;
    for (std::size_t at = 0; at < counters.size(); ++at) {
      const LinkAttributes& attributes = links_[at].attributes;
      counters[at].index = attributes.index;
      counters[at].masterIndex = attributes.masterIndex;
      if (attributes.isDown) counters[at].isUp = false;
      copyAttributes(attributes, links_[at].lowerIndex, counters[at]);
    }
    return counters;
  }
}

void LinkFiles::refresh(const std::vector<InterfaceCounters>& counters) {
  links_.clear();
  ++*changes_;
  for (const InterfaceCounters& one : counters) {
    const std::string folder = linkFolder(roots_, one.name);
    links_.push_back({one.name, readLinkAttributes(folder), 0, KeptFile(folder + "/operstate"),
                      KeptFile(folder + "/flags")});
  }
  findLowerLinks();
  refreshedAt_ = Clock::now();
}

void LinkFiles::findLowerLinks() {
  std::unordered_map<std::uint32_t, const std::string*> names;
  for (const Link& link : links_) names.emplace(link.attributes.index, &link.name);
  for (Link& link : links_) {
    const std::uint32_t index = link.attributes.linkIndex;
    if (index == 0 || index == link.attributes.index) continue;
    const auto found = names.find(index);
    if (found != names.end() && isOnTopOf(linkFolder(roots_, link.name), *found->second))
      link.lowerIndex = index;
  }
}

// Documentation/networking/operstates.rst: drivers that do not report a state leave "unknown", which counts
// as up while the interface has a carrier; the loopback never reports anything else. If the state cannot be
// read, an interface that is set up counts the same way.
std::optional<bool> LinkFiles::isUp(std::size_t at, std::optional<bool> hasCarrier) {
  Link& link = links_[at];
  std::string_view state = link.operstate.readShortRecordsIfPresent(buffer_);
  if (state.ends_with('\n')) state.remove_suffix(1);
  const bool isUnknown = state == "unknown";
  if (!state.empty() && !isUnknown) return state == "up";
  const bool isLoopback = link.attributes.kind == InterfaceKind::kLoopback;
  if (isUnknown && !isLoopback) return hasCarrier;
  const auto isSetUp = hasUpFlag(link.flags.readShortRecordsIfPresent(buffer_));
  if (isUnknown) return isSetUp.value_or(false);
  return isLoopback || isSetUp != true ? isSetUp : hasCarrier;
}

}  // namespace hostwire
