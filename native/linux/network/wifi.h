// Signal levels of Wi-Fi interfaces. For a prober: the driver may be slow.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/network.h"
#include "host/roots.h"
#include "linux/kernel/file.h"
#include "linux/network/netlink/generic.h"

namespace hostwire {

using WifiLevels = std::map<std::string, double>;  // dBm by the interface's name as in the kernel

// Belongs to one prober's question: used by one thread at a time.
class WifiProbe {
 public:
  explicit WifiProbe(Roots roots);
  // Throws HostError.
  WifiLevels read();

 private:
  const Roots roots_;
  KeptFile wireless_;
  std::optional<std::chrono::steady_clock::time_point> withoutFileSince_;
  WifiSignals signals_;
  std::string buffer_;
};

// Returns the row about Wi-Fi in a reading with detail; nothing on a machine without it.
std::optional<Finding> describeWifi(const std::vector<InterfaceCounters>& links, const Roots& roots);

}  // namespace hostwire
