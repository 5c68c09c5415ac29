// Reads whether the network cards wait for a packet: the driver's answer (ETHTOOL_GWOL), which the kernel
// gives to CAP_NET_ADMIN only (net/ethtool/ioctl.c), and the device's power setting, which every user may
// read.
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "host/ask_within.h"
#include "host/error.h"
#include "host/wake.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"
#include "linux/network/links.h"

namespace hostwire {
namespace {

// Time limit: the kernel holds the lock of all interfaces while it sets one up, for seconds if a driver is
// slow.
constexpr std::chrono::seconds kPatience{1};

// WAKE_PHY to WAKE_FILTER, from bit 0.
constexpr std::array<const char*, 8> kEvents{"phy", "unicast", "multicast", "broadcast",
                                             "arp", "magic",   "secureon",  "filter"};

std::vector<std::string> eventsOf(std::uint32_t bits) {
  std::vector<std::string> events;
  for (std::size_t bit = 0; bit < kEvents.size(); ++bit)
    if ((bits & (1U << bit)) != 0) events.emplace_back(kEvents[bit]);
  return events;
}

struct DriverAnswer {
  int error = 0;  // an errno
  ethtool_wolinfo info{};
};

DriverAnswer askDriver(int socket, const std::string& rawName) {
  DriverAnswer answer;
  answer.info.cmd = ETHTOOL_GWOL;
  ifreq request{};
  rawName.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&answer.info);
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) answer.error = errno;
  return answer;
}

std::vector<DriverAnswer> askDrivers(const std::vector<std::string>& rawNames) {
  const FileDescriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.isOpen()) throw HostError(errno, "open a socket");
  std::vector<DriverAnswer> answers;
  answers.reserve(rawNames.size());
  for (const std::string& rawName : rawNames) answers.push_back(askDriver(any.get(), rawName));
  return answers;
}

constexpr const char* kSilent = "the driver did not answer within a second";

// The right to ask the drivers. A question that hangs keeps it, so that no further thread hangs with it.
class Turn {
 public:
  static std::shared_ptr<Turn> take() {
    auto turn = std::make_shared<Turn>();  // first: if memory is exhausted, nothing is taken
    turn->isHeld_ = !isTaken.exchange(true);
    return turn->isHeld_ ? turn : nullptr;
  }
  Turn() = default;
  ~Turn() { release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void release() {
    if (isHeld_.exchange(false)) isTaken = false;
  }

 private:
  std::atomic<bool> isHeld_{false};
  static inline std::atomic<bool> isTaken{false};
};

std::string describeError(int error) {
  switch (error) {
    case EPERM: return "the driver answers only to a process with CAP_NET_ADMIN";
    case EOPNOTSUPP: return "the driver has no Wake-on-LAN";
    default: return "the driver did not answer: " + errnoSymbol(error);
  }
}

void takeAnswer(WakeOnLan& card, const DriverAnswer& answer) {
  if (answer.error != 0) {
    card.failure = describeError(answer.error);
    if (answer.error == EOPNOTSUPP) card.isEnabled = false;
    return;
  }
  card.supported = eventsOf(answer.info.supported);
  card.armed = eventsOf(answer.info.wolopts);
  card.isEnabled = answer.info.wolopts != 0;
}

// Documentation/ABI/testing/sysfs-devices-power: "enabled" or "disabled"; absent or empty for a device that
// cannot wake the machine, and unknown if the driver never said that it can.
std::optional<bool> readPowerSetting(const std::string& device) {
  const std::string setting = readSmallFile(device + "/power/wakeup");
  if (setting == "enabled") return true;
  if (setting == "disabled") return false;
  return std::nullopt;
}

// ethtool's ioctl wakes the device, so a suspended one is not asked.
bool isSuspended(const std::string& device) {
  return readSmallFile(device + "/power/runtime_status") == "suspended";
}

}  // namespace

std::vector<WakeOnLan> readWakeOnLan(const Roots& roots) {
  std::vector<WakeOnLan> cards;
  std::vector<std::size_t> asked;
  std::vector<std::string> askedNames;
  for (const std::string& rawName : listFolder(roots.sys + "/class/net")) {
    const std::string device = linkFolder(roots, rawName) + "/device";
    if (!isPresent(device)) continue;
    WakeOnLan card;
    card.name = toValidUtf8(rawName);
    card.isEnabled = readPowerSetting(device);
    if (isSuspended(device))
      card.failure = "the card is suspended, and asking its driver would wake it";
    else if (!roots.isDefault())
      card.failure = "the driver was not asked: the service may be in another network than the machine";
    else {
      card.failure = kSilent;
      asked.push_back(cards.size());
      askedNames.push_back(rawName);
    }
    cards.push_back(std::move(card));
  }
  if (asked.empty()) return cards;
  const auto turn = Turn::take();
  if (!turn) return cards;
  const auto answers = askWithin<std::vector<DriverAnswer>>(kPatience, [askedNames, turn] {
    auto all = askDrivers(askedNames);
    turn->release();  // before the answer is taken: the thread ends a moment later
    return all;
  });
  for (std::size_t at = 0; answers && at < asked.size(); ++at) {
    WakeOnLan& card = cards[asked[at]];
    card.failure.reset();
    takeAnswer(card, (*answers)[at]);
  }
  return cards;
}

}  // namespace hostwire
