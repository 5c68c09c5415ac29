// Network interfaces of Windows: the whole table at intervals, and in between only the interfaces that count.
#include "host/network.h"

#include <algorithm>
#include <chrono>

#include "host/clock.h"
#include "host/prober.h"
#include "host/recent.h"
#include "windows/network/interfaces.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::vector<InterfaceAddress>;

// Interval between tables: each row is a question to a driver, and there are dozens.
constexpr std::chrono::seconds kTableInterval{10};

std::vector<std::string> addressesOf(const InterfaceCounters& link, const Addresses& all) {
  std::vector<std::string> addresses;
  for (const InterfaceAddress& address : all)
    if (address.index == link.index) addresses.push_back(address.text);
  return addresses;
}

}  // namespace

struct NetworkReader::State {
  explicit State(ProberPool& probers) : addresses(probers, [] { return readInterfaceAddresses(); }) {}

  std::vector<InterfaceCounters> readTable(bool withDetail) {
    std::vector<InterfaceCounters> links;
    counted.clear();
    for (const MIB_IF_ROW2& row : readInterfaceTable()) {
      if (!isShown(row)) continue;
      links.push_back(countersOf(row, withDetail));
      if (links.back().hasDevice) counted.push_back(row.InterfaceLuid);
    }
    tableReadAt = Clock::now();
    return links;
  }

  // Returns the interfaces with a device, the only ones that count if there are any; nothing when one of them
  // is gone.
  std::optional<std::vector<InterfaceCounters>> readCounted() const {
    if (counted.empty() || Clock::now() - tableReadAt > kTableInterval) return std::nullopt;
    std::vector<InterfaceCounters> links;
    for (const NET_LUID luid : counted) {
      MIB_IF_ROW2 row{};
      row.InterfaceLuid = luid;
      if (GetIfEntry2(&row) != NO_ERROR) return std::nullopt;
      links.push_back(countersOf(row, false));
    }
    return links;
  }

  std::vector<InterfaceCounters> readLinks(bool withDetail) {
    if (!withDetail)
      if (auto links = readCounted()) return std::move(*links);
    auto links = readTable(withDetail);
    if (!withDetail) return links;
    if (const auto known = recentValue(addresses.latest()))
      for (InterfaceCounters& link : links) link.addresses = addressesOf(link, *known);
    return links;
  }

  const Prober<Addresses> addresses;
  NetworkReading reading;
  std::vector<NET_LUID> counted;
  Clock::time_point tableReadAt;
};

NetworkReader::NetworkReader(const Roots&, ProberPool& probers) : state_(std::make_unique<State>(probers)) {}
NetworkReader::~NetworkReader() = default;

const NetworkReading& NetworkReader::read(bool withDetail) {
  state_->reading = {readClock().monotonicNs, state_->readLinks(withDetail)};
  return state_->reading;
}

Findings NetworkReader::describe() {
  return describeOrExplain("network", "GetIfTable2", [&]() -> Findings {
    return {Finding::works("network", countOf(read(true).links.size(), "interface") + " from GetIfTable2")};
  });
}

}  // namespace hostwire
