// Network interfaces of Linux: few are read from files, many are taken from a prober's last answer.
#include "host/network.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "host/clock.h"
#include "host/error.h"
#include "host/prober.h"
#include "host/recent.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"
#include "linux/network/addresses.h"
#include "linux/network/link_files.h"
#include "linux/network/links.h"
#include "linux/network/netlink/link_table.h"
#include "linux/network/parse_network.h"
#include "linux/network/wifi.h"

namespace hostwire {
namespace {

// A line of /proc/net/dev takes 1 µs, and up to 15 files are read of each interface after a change: more
// interfaces are read by a prober. Its dump waits for the kernel's network configuration lock, so it must not
// be made on the JavaScript thread, however few they are.
constexpr std::size_t kMaxInFiles = 16;
// Buffer for /proc/net/dev with more lines than that.
constexpr std::size_t kEnoughBytes = 8192;
// Number of interfaces at which files are used again.
constexpr std::size_t kFewAgain = kMaxInFiles / 2;

constexpr const char* kAwaited = "the interfaces have not been read yet";

template <class Probe>
auto asking(Roots roots, LinkChanges changes) {
  return [probe = std::make_shared<Probe>(std::move(roots), std::move(changes))] { return probe->read(); };
}

std::function<WifiLevels()> askLevels(const Roots& roots) {
  return [probe = std::make_shared<WifiProbe>(roots)] { return probe->read(); };
}

const LinkDetail* findDetail(const LinkDetails& details, const std::string& name) {
  if (!details) return nullptr;
  const auto found = std::lower_bound(details->begin(), details->end(), name,
                                      [](const LinkDetail& row, const auto& it) { return row.rawName < it; });
  return found != details->end() && found->rawName == name ? &*found : nullptr;
}

}  // namespace

struct NetworkReader::State {
  State(const Roots& givenRoots, ProberPool& probers)
      : roots(givenRoots),
        canDump(givenRoots.isDefault() && readLinkIndex(linkFolder(givenRoots, "lo")) != 0),
        table(probers, asking<LinkTable>(givenRoots, changes)),
        details(probers, asking<LinkProbe>(givenRoots, changes)),
        levels(probers, askLevels(givenRoots)) {
    openFiles();
    if (!canDump || !areMany()) return;
    files.reset();
    table.latest();
    probers.askAll(std::chrono::milliseconds{0});  // before the first reading
  }

  void openFiles() { files.emplace(roots, changes); }
  bool areMany() const;
  // True while the prober has not answered, and there is no earlier reading.
  bool isAwaited() const { return !files && reading.takenAtNs == 0 && !table.latest().value; }
  bool readFiles();
  void pickUp();
  void judge();
  void addDetail();
  void addLevels();

  Roots roots;
  // Whether /sys shows the interfaces: if it does not, they have no index when they are read from files.
  bool canDump;
  const LinkChanges changes = std::make_shared<std::atomic<unsigned>>(0);
  Prober<SharedReading> table;
  Prober<LinkDetails> details;
  Prober<WifiLevels> levels;       // separate from the details: a Wi-Fi driver delays only its own values
  std::optional<LinkFiles> files;  // while interfaces are few
  SharedReading answer;            // of the table, while they are many
  NetworkReading reading;          // the last one
};

bool NetworkReader::State::areMany() const {
  KeptFile dev(netFolder(roots) + "/dev");
  std::string buffer;
  return parseNetDev(dev.readHeadIfPresent(buffer, kEnoughBytes)).size() > kMaxInFiles;
}

// Returns false if there are too many.
bool NetworkReader::State::readFiles() {
  auto links = files->read(canDump ? kMaxInFiles : std::numeric_limits<std::size_t>::max());
  if (!links) return false;
  reading.links = std::move(*links);
  reading.takenAtNs = readClock().monotonicNs;
  return true;
}

// The last reading remains until the prober has a younger one: an older one would look as if all counters
// were reset, and the totals would count them twice.
void NetworkReader::State::pickUp() {
  const Answer<SharedReading> latest = table.latest();
  if (latest.value && (*latest.value)->takenAtNs > reading.takenAtNs) answer = *latest.value;
  if (answer) reading = *answer;
  const auto age = std::chrono::nanoseconds(readClock().monotonicNs - reading.takenAtNs);
  const bool isOverdue = latest.isStale || !latest.error.empty();
  if (reading.takenAtNs == 0 || (isOverdue && age > kMaxAge))
    throw ProbeError(latest.error.empty() ? kAwaited : latest.error);
}

void NetworkReader::State::judge() {
  const auto isLine = [](const InterfaceCounters& one) { return one.isLine; };
  if (std::any_of(reading.links.begin(), reading.links.end(), isLine))
    judgeLines(reading.links, readSmallFile(netFolder(roots) + "/pppoe"));
}

void NetworkReader::State::addDetail() {
  const auto known = recentValue(details.latest()).value_or(nullptr);
  for (std::size_t at = 0; at < reading.links.size(); ++at) {
    InterfaceCounters& one = reading.links[at];
    const LinkDetail* detail = findDetail(known, one.name);
    if (files)
      one.isUp = files->isUp(at, detail ? std::optional(detail->hasCarrier.value_or(false)) : std::nullopt);
    if (detail == nullptr) continue;
    one.speedMbps = detail->speedMbps;
    one.mac = detail->mac;
    one.addresses = detail->addresses;
  }
}

// Asked only if there are Wi-Fi interfaces.
void NetworkReader::State::addLevels() {
  const auto isWifi = [](const InterfaceCounters& one) { return one.kind == InterfaceKind::kWifi; };
  if (std::none_of(reading.links.begin(), reading.links.end(), isWifi)) return;
  const auto known = recentValue(levels.latest()).value_or(WifiLevels{});
  for (InterfaceCounters& one : reading.links) {
    const auto level = known.find(one.name);
    if (level != known.end() && isWifi(one)) one.signalDbm = level->second;
  }
}

NetworkReader::NetworkReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
NetworkReader::~NetworkReader() = default;

const NetworkReading& NetworkReader::read(bool withDetail) {
  State& state = *state_;
  if (state.files && !state.readFiles()) state.files.reset();
  if (!state.files) state.pickUp();
  // If the prober has not answered since they became many, the last reading is returned unchanged.
  if (!state.files && !state.answer) return state.reading;
  state.judge();
  if (withDetail) {
    state.addDetail();
    state.addLevels();
  }
  for (InterfaceCounters& one : state.reading.links) one.name = toValidUtf8(one.name);
  if (state.answer && state.reading.links.size() <= kFewAgain) {
    state.answer.reset();
    state.openFiles();
  }
  return state.reading;
}

namespace {

Finding describeLinks(std::size_t count, const std::string& source, const std::string& attributes) {
  std::string from = countOf(count, "interface") + " from " + source;
  if (isPresent(attributes)) return Finding::works("network", std::move(from));
  return Finding::partly(
      "network", std::move(from),
      {"there is no " + attributes +
           ", which has the kind and the state of each interface: the totals are the sum of "
           "all but the loopback",
       "mount sysfs there, or set host.sys to where it is mounted"});
}

}  // namespace

Findings NetworkReader::describe() {
  const std::string source = state_->files ? state_->files->path() : "the kernel's dump of all links";
  return describeOrExplain("network", source, [&]() -> Findings {
    if (state_->isAwaited()) {
      Finding pending = Finding::missing("network", source, {kAwaited, ""});
      pending.isPending = true;
      return {std::move(pending)};
    }
    const auto& links = read(true).links;
    Findings findings{describeLinks(links.size(), source, state_->roots.sys + "/class/net")};
    if (auto wifi = describeWifi(links, state_->roots)) findings.push_back(std::move(*wifi));
    return findings;
  });
}

}  // namespace hostwire
