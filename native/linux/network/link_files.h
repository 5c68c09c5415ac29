// Reads the interfaces from /proc/net/dev and /sys/class/net, if they are few or the roots are not the
// default. It waits for no lock of the kernel, because it runs on the JavaScript thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/network.h"
#include "host/roots.h"
#include "linux/kernel/file.h"
#include "linux/network/links.h"
#include "linux/network/netlink/link_watch.h"

namespace hostwire {

class LinkFiles {
 public:
  // `changes` is incremented when interfaces were added, removed or changed.
  LinkFiles(const Roots& roots, LinkChanges changes);
  // Returns counters and attributes of the same interfaces, with the names as in the kernel. Returns nothing
  // if there are more than `maxLinks`; then only the first counters are read. Throws HostError.
  std::optional<std::vector<InterfaceCounters>> read(std::size_t maxLinks);
  // Returns whether the interface at this place of the last reading is up. `hasCarrier`: as far as a prober
  // knows.
  std::optional<bool> isUp(std::size_t at, std::optional<bool> hasCarrier);
  const std::string& path() const { return dev_.path(); }

 private:
  struct Link {
    std::string name;
    LinkAttributes attributes;
    std::uint32_t lowerIndex = 0;
    KeptFile operstate;
    KeptFile flags;
  };

  bool hasChanged() { return watch_ && watch_->takeChange(); }
  bool isCurrent(const std::vector<InterfaceCounters>& counters) const;
  void refresh(const std::vector<InterfaceCounters>& counters);
  void findLowerLinks();

  Roots roots_;
  LinkChanges changes_;
  KeptFile dev_;
  std::optional<LinkWatch> watch_;
  std::vector<Link> links_;  // in the order of /proc/net/dev
  std::chrono::steady_clock::time_point refreshedAt_;
  bool mustRefresh_ = false;  // interfaces changed during the last reading
  std::string buffer_;
};

}  // namespace hostwire
