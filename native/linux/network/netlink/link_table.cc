// RTM_GETLINK, and the facts about each interface that only /sys has, read once.
#include "linux/network/netlink/link_table.h"

#include <linux/rtnetlink.h>

#include <algorithm>
#include <utility>

#include "host/clock.h"
#include "host/error.h"

namespace hostwire {
namespace {

// Maximum number of dumps per question while interfaces are added and removed.
constexpr int kMaxAttempts = 3;

}  // namespace

LinkTable::LinkTable(Roots roots, LinkChanges changes)
    : roots_(std::move(roots)), changes_(std::move(changes)), netlink_(NETLINK_ROUTE) {}

std::vector<LinkMessage> LinkTable::dump() {
  const ifinfomsg all{};
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::vector<LinkMessage> links;
    links.reserve(facts_.size());
    const bool isWhole = netlink_.ask({RTM_GETLINK, true, bytesOf(all)}, [&](std::string_view message) {
      if (auto link = parseLink(message)) links.push_back(std::move(*link));
    });
    if (!isWhole) continue;
    std::sort(links.begin(), links.end(),
              [](const auto& a, const auto& b) { return a.counters.index < b.counters.index; });
    return links;
  }
  throw ProbeError("the network interfaces keep changing");
}

// Returns nothing if the folder of this name is another interface's by now: then it is searched again.
std::optional<LinkTable::Facts> LinkTable::readFacts(const LinkMessage& link,
                                                     const std::string* lowerName) const {
  const std::string& name = link.counters.name;
  const std::string folder = linkFolder(roots_, name);
  const LinkAttributes attributes = readLinkAttributes(folder);
  const bool isOnTop = lowerName != nullptr && isOnTopOf(folder, *lowerName);
  if (attributes.index != link.counters.index || readLinkIndex(folder) != link.counters.index)
    return std::nullopt;
  return Facts{name, link.linkIndex, link.type, attributes, isOnTop ? link.linkIndex : 0};
}

void LinkTable::updateFacts(const std::vector<LinkMessage>& links) {
  std::unordered_map<std::uint32_t, const std::string*> names;
  for (const LinkMessage& link : links) names.emplace(link.counters.index, &link.counters.name);
  AllFacts current;
  bool hasChanged = facts_.size() != links.size();
  for (const LinkMessage& link : links) {
    const std::uint32_t index = link.counters.index;
    const auto known = facts_.find(index);
    if (known != facts_.end() && known->second.name == link.counters.name &&
        known->second.linkIndex == link.linkIndex && known->second.type == link.type) {
      current.insert(std::move(*known));
      continue;
    }
    hasChanged = true;
    const auto lower = link.linkIndex == index ? names.end() : names.find(link.linkIndex);
    if (auto found = readFacts(link, lower == names.end() ? nullptr : lower->second))
      current.emplace(index, std::move(*found));
  }
  facts_ = std::move(current);
  if (hasChanged) ++*changes_;
}

void LinkTable::readAll(std::vector<InterfaceCounters>& links) {
  std::vector<LinkMessage> messages = dump();
  updateFacts(messages);
  links.clear();
  links.reserve(messages.size());
  for (LinkMessage& message : messages) {
    InterfaceCounters& one = links.emplace_back(std::move(message.counters));
    const auto found = facts_.find(one.index);
    if (found == facts_.end()) continue;
    copyAttributes(found->second.attributes, found->second.lowerIndex, one);
  }
}

// Returns false if an interface has changed, was added or removed since the last reading, or the kernel
// refuses.
bool LinkTable::readCounters(std::vector<InterfaceCounters>& links) {
  if_stats_msg question{};
  question.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  std::size_t count = 0;
  try {
    const bool isWhole = netlink_.ask({RTM_GETSTATS, true, bytesOf(question)}, [&](std::string_view message) {
      if (updateCounters(links, message)) ++count;
    });
    return isWhole && count == links.size() && !watch_->takeChange();
  } catch (const HostError&) {
    return false;
  }
}

SharedReading LinkTable::read() {
  if (!watch_) watch_.emplace();
  const bool hasChanged = !watch_->isOpen() || watch_->takeChange();
  auto reading = std::make_shared<NetworkReading>();
  reading->takenAtNs = readClock().monotonicNs;  // before the dumps: see NetworkReader::State::pickUp
  // An interface that /sys has not shown yet is searched again.
  const bool isKnown = last_ && facts_.size() == last_->links.size();
  if (isKnown && !hasChanged) reading->links = last_->links;
  if (!isKnown || hasChanged || !readCounters(reading->links)) readAll(reading->links);
  last_ = reading;
  return reading;
}

}  // namespace hostwire
