// Reads /sys/class/net/NAME: Documentation/ABI/testing/sysfs-class-net.
#include "linux/network/links.h"

#include <algorithm>
#include <utility>

#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/network/addresses.h"
#include "linux/network/parse_network.h"

namespace hostwire {
namespace {

constexpr std::chrono::seconds kRefreshInterval{5};
// Maximum plausible speed. "Unknown" on older kernels is -1 as an unsigned number of 32 bits or, on still
// older ones, of 16.
constexpr std::int64_t kMaxMbps = 10'000'000;
constexpr std::int64_t kUnknownMbps = 65'535;

// "eth0:1" is a label of an address on eth0.
bool isAddressOf(const InterfaceAddress& address, const std::string& rawName) {
  return address.name == rawName ||
         (address.name.starts_with(rawName) && address.name[rawName.size()] == ':');
}

int placeOf(const InterfaceAddress& address) {
  if (!address.isIpv6) return 0;
  return address.isLinkLocal ? 2 : 1;
}

// Returns 0 if the file is absent or holds no index.
std::uint32_t readIndex(const std::string& path) {
  const auto index = parseInteger(readSmallFile(path));
  return index && *index > 0 && *index <= UINT32_MAX ? static_cast<std::uint32_t>(*index) : 0;
}

LinkDetail askLink(const std::string& folder, const std::string& rawName) {
  LinkDetail detail;
  detail.rawName = rawName;
  // EINVAL while the interface is down.
  const auto carrier = parseInteger(readSmallFile(folder + "/carrier"));
  if (carrier) detail.hasCarrier = *carrier == 1;
  const auto speed = parseInteger(readSmallFile(folder + "/speed"));
  if (speed && *speed > 0 && *speed <= kMaxMbps && *speed != kUnknownMbps)
    detail.speedMbps = static_cast<double>(*speed);
  detail.mac = parseMac(readSmallFile(folder + "/address"));
  return detail;
}

}  // namespace

std::string linkFolder(const Roots& roots, const std::string& rawName) {
  if (rawName.empty() || rawName == "." || rawName == ".." || rawName.find('/') != std::string::npos)
    return {};
  return roots.sys + "/class/net/" + rawName;
}

LinkAttributes readLinkAttributes(const std::string& folder) {
  LinkAttributes attributes;
  if (folder.empty()) return attributes;
  attributes.index = readIndex(folder + "/ifindex");
  attributes.masterIndex = readIndex(folder + "/master/ifindex");
  attributes.linkIndex = readIndex(folder + "/iflink");
  const std::string uevent = readSmallFile(folder + "/uevent");
  LinkFacts facts;
  facts.type = parseInteger(readSmallFile(folder + "/type"));
  facts.devtype = findUeventValue(uevent, "DEVTYPE");
  facts.hasDevice = isPresent(folder + "/device");
  facts.isWireless = isPresent(folder + "/wireless") || isPresent(folder + "/phy80211");
  facts.isBond = isPresent(folder + "/bonding");
  facts.isBridge = isPresent(folder + "/bridge");
  facts.hasTunFlags = isPresent(folder + "/tun_flags");
  const std::string bus = facts.hasDevice ? linkedName(folder + "/device/subsystem") : std::string();
  facts.bus = bus;
  std::string portName;
  // Reading the port's name waits for the kernel's network configuration lock. A representor shares the
  // device of its switch, so the name is read only where the device has other interfaces, or does not list
  // them.
  if (facts.hasDevice && listFolder(folder + "/device/net").size() != 1)
    portName = readSmallFile(folder + "/phys_port_name");
  facts.portName = portName;
  attributes.kind = classifyLink(facts);
  attributes.hasDevice = isHardware(facts);
  attributes.isLine = isLine(facts);
  const std::string state = readSmallFile(folder + "/operstate");
  attributes.isDown = !state.empty() && state != "up" && state != "unknown";
  return attributes;
}

void copyAttributes(const LinkAttributes& from, std::uint32_t lowerIndex, InterfaceCounters& to) {
  to.kind = from.kind;
  to.hasDevice = from.hasDevice;
  to.isLine = from.isLine;
  to.lowerIndex = lowerIndex;
  to.hasPeer = from.linkIndex != 0 && from.linkIndex != from.index && from.linkIndex != lowerIndex;
}

std::uint32_t readLinkIndex(const std::string& folder) { return readIndex(folder + "/ifindex"); }

bool isOnTopOf(const std::string& folder, const std::string& rawName) {
  return isPresent(folder + "/lower_" + rawName);
}

LinkProbe::LinkProbe(Roots roots, LinkChanges changes)
    : roots_(std::move(roots)), changes_(std::move(changes)) {}

void LinkProbe::refresh() {
  details_.clear();
  auto addresses = readAddresses(roots_);
  std::stable_sort(addresses.begin(), addresses.end(),
                   [](const auto& a, const auto& b) { return placeOf(a) < placeOf(b); });
  for (const std::string& name : listFolder(roots_.sys + "/class/net")) {
    details_.push_back(askLink(linkFolder(roots_, name), name));
    for (const InterfaceAddress& address : addresses)
      if (isAddressOf(address, name)) details_.back().addresses.push_back(address.text);
  }
  refreshedAt_ = std::chrono::steady_clock::now();
}

LinkDetails LinkProbe::read() {
  const unsigned changes = *changes_;
  const bool hasChanged = std::exchange(seenChanges_, changes) != changes;
  if (hasChanged || !refreshedAt_ || std::chrono::steady_clock::now() - *refreshedAt_ >= kRefreshInterval)
    refresh();
  return std::make_shared<const std::vector<LinkDetail>>(details_);
}

}  // namespace hostwire
