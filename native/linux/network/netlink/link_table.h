// Reads all interfaces from the kernel's dumps, if they are many: everything (RTM_GETLINK) after a change,
// and only the counters (RTM_GETSTATS) otherwise, which takes a tenth of the time. For a prober: the kernel
// holds its network configuration lock during a dump, which a driver may keep for seconds.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host/network.h"
#include "host/roots.h"
#include "linux/network/links.h"
#include "linux/network/netlink/link_watch.h"
#include "linux/network/netlink/netlink.h"
#include "linux/network/netlink/parse_link.h"

namespace hostwire {

// Shared, because each reading copies the prober's answer.
using SharedReading = std::shared_ptr<const NetworkReading>;

// Belongs to one prober's question: used by one thread at a time.
class LinkTable {
 public:
  // `changes` is incremented when interfaces were added, removed or renamed.
  LinkTable(Roots roots, LinkChanges changes);
  // Returns them in the order of the indexes, with the names as in the kernel, and whether each is up. Throws
  // HostError, and ProbeError if the list changed during each attempt.
  SharedReading read();

 private:
  // Facts that are not in the message and never change while an interface keeps its index, name and type.
  struct Facts {
    std::string name;
    std::uint32_t linkIndex = 0;
    std::uint16_t type = 0;
    LinkAttributes attributes;
    std::uint32_t lowerIndex = 0;
  };
  using AllFacts = std::unordered_map<std::uint32_t, Facts>;  // by index

  std::vector<LinkMessage> dump();
  bool readCounters(std::vector<InterfaceCounters>& links);
  void readAll(std::vector<InterfaceCounters>& links);
  std::optional<Facts> readFacts(const LinkMessage& link, const std::string* lowerName) const;
  void updateFacts(const std::vector<LinkMessage>& links);

  Roots roots_;
  LinkChanges changes_;
  Netlink netlink_;
  AllFacts facts_;
  std::optional<LinkWatch> watch_;  // since the first reading
  SharedReading last_;
};

}  // namespace hostwire
