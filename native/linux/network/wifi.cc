// /proc/net/wireless, or nl80211 where the kernel no longer has that file.
#include "linux/network/wifi.h"

#include <net/if.h>

#include <array>
#include <utility>

#include "linux/network/addresses.h"
#include "linux/network/parse_network.h"

namespace hostwire {
namespace {

// The module that creates the file may be loaded later.
constexpr std::chrono::seconds kFileRetry{60};

}  // namespace

WifiProbe::WifiProbe(Roots roots) : roots_(std::move(roots)), wireless_(netFolder(roots_) + "/wireless") {}

// With other roots than the default the kernel would be asked about the wrong network.
WifiLevels WifiProbe::read() {
  WifiLevels levels;
  const auto now = std::chrono::steady_clock::now();
  if (!withoutFileSince_ || now - *withoutFileSince_ >= kFileRetry) {
    for (const SignalLevel& level : parseWireless(wireless_.readIfPresent(buffer_)))
      levels.emplace(level.name, level.dbm);
    withoutFileSince_ = wireless_.descriptor() < 0 ? std::optional(now) : std::nullopt;
  }
  if (!levels.empty() || !roots_.isDefault()) return levels;
  for (const auto& [index, dbm] : signals_.read()) {
    std::array<char, IF_NAMESIZE> name{};
    if (if_indextoname(index, name.data()) != nullptr) levels.emplace(name.data(), dbm);
  }
  return levels;
}

}  // namespace hostwire
