// Facts of /sys about one network interface: some are read immediately, some only by a prober.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/network.h"
#include "host/roots.h"

namespace hostwire {

// Counts how often the list of interfaces, or one of them, was seen to have changed.
using LinkChanges = std::shared_ptr<std::atomic<unsigned>>;

// Returns the folder of an interface; `rawName` is the kernel's own spelling. Empty if it cannot be a name.
std::string linkFolder(const Roots& roots, const std::string& rawName);

// Attributes that seldom change; none of these files takes a lock that is held for long.
struct LinkAttributes {
  std::uint32_t index = 0;
  InterfaceKind kind = InterfaceKind::kOther;
  bool hasDevice = false;
  bool isLine = false;
  bool isDown = false;
  std::uint32_t masterIndex = 0;
  // Its own index, or that of a related interface, which may be in another network namespace and have an
  // index that is another interface's in this one: the peer of a veth, the interface below a VLAN.
  std::uint32_t linkIndex = 0;
};
LinkAttributes readLinkAttributes(const std::string& folder);
// Copies what does not change while the interface keeps its index and its name.
void copyAttributes(const LinkAttributes& from, std::uint32_t lowerIndex, InterfaceCounters& to);
// Returns the index alone; 0 if the interface does not exist.
std::uint32_t readLinkIndex(const std::string& folder);
// Returns whether the interface of `folder` is on top of the one with this name: those have links to each
// other.
bool isOnTopOf(const std::string& folder, const std::string& rawName);

// Details that may wait for the kernel's network configuration lock or the driver.
struct LinkDetail {
  std::string rawName;
  std::optional<bool> hasCarrier;
  std::optional<double> speedMbps;
  std::optional<std::string> mac;
  std::vector<std::string> addresses;  // IPv4, then IPv6, link-local ones last
};
// Shared, because each reading copies the prober's answer.
using LinkDetails = std::shared_ptr<const std::vector<LinkDetail>>;

// Belongs to one prober's question: used by one thread at a time.
class LinkProbe {
 public:
  LinkProbe(Roots roots, LinkChanges changes);
  // In the order of the names. Read again every 5 s and after a change.
  LinkDetails read();

 private:
  void refresh();

  Roots roots_;
  LinkChanges changes_;
  unsigned seenChanges_ = 0;
  std::vector<LinkDetail> details_;
  std::optional<std::chrono::steady_clock::time_point> refreshedAt_;
};

}  // namespace hostwire
