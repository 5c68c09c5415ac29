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

std::optional<Finding> describeWifi(const std::vector<InterfaceCounters>& links, const Roots& roots) {
  std::vector<std::string> names;
  std::vector<std::string> silent;
  for (const InterfaceCounters& link : links) {
    if (link.kind != InterfaceKind::kWifi) continue;
    names.push_back(link.name);
    if (link.isUp == true && !link.signalDbm) silent.push_back(link.name);
  }
  if (names.empty()) return std::nullopt;
  const std::string source = listOf(names) + " from nl80211 or " + netFolder(roots) + "/wireless";
  if (silent.empty()) return Finding::works("wifi", source);
  return Finding::partly(
      "wifi", source,
      {"the signal of " + listOf(silent) + " is not known",
       roots.isDefault() ? "" : "leave host.proc at /proc: nl80211 knows only its own network"});
}

}  // namespace hostwire
