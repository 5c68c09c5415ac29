// Readings behind the metrics of Linux. Files stay open from the first reading on.
#include "host/metrics.h"

#include <linux/rtnetlink.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "host/exposition.h"
#include "host/uptime.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/metrics/parse_clock.h"
#include "linux/metrics/parse_counters.h"
#include "linux/metrics/parse_devices.h"
#include "linux/metrics/parse_links.h"
#include "linux/metrics/parse_sockets.h"
#include "linux/network/addresses.h"
#include "linux/network/links.h"
#include "linux/network/netlink/netlink.h"
#include "linux/network/parse_network.h"

namespace hostwire {
namespace {

// Limits the answer, also on a machine with a veth per container.
constexpr std::size_t kMaxLinks = 512;
constexpr std::size_t kMaxSupplies = 64;
// Time for which values are kept that only a change of the hardware or of the system changes.
constexpr std::chrono::seconds kSettledFor{5};

// One text of the kernel, and the function that writes it.
struct Source {
  KeptFile file;
  std::function<void(std::string_view, Exposition&)> write;
};

// Metrics that are one number in a file.
struct NumberFile {
  const char* path;  // below /proc
  const char* name;
  const char* help;
};
constexpr std::array kNumberFiles{
    NumberFile{"/sys/kernel/random/entropy_avail", "node_entropy_available_bits",
               "Bits of available entropy."},
    NumberFile{"/sys/kernel/random/poolsize", "node_entropy_pool_size_bits", "Bits of entropy pool."},
    NumberFile{"/sys/net/netfilter/nf_conntrack_count", "node_nf_conntrack_entries",
               "Number of currently allocated flow entries for connection tracking."},
    NumberFile{"/sys/net/netfilter/nf_conntrack_max", "node_nf_conntrack_entries_limit",
               "Maximum size of connection tracking table."}};

void writeTime(Exposition& out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  out.single("node_time_seconds", "System time in seconds since epoch (1970).", MetricType::kGauge,
             MetricValue(ns, 9));
}

// Writes nothing if the call is forbidden, as by ProtectClock= of systemd.
void writeSystemClock(Exposition& out) {
  timex clock{};  // modes 0: read only
  const int state = adjtimex(&clock);
  if (state >= 0) writeClock(clock, state, out);
}

// Writes the time zone of this process.
void writeTimeZone(Exposition& out) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) == nullptr || local.tm_zone == nullptr) return;
  out.family("node_time_zone_offset_seconds", "System time zone offset in seconds.", MetricType::kGauge);
  out.add(MetricValue::ofSigned(local.tm_gmtoff), {{"time_zone", toDistinctUtf8(local.tm_zone)}});
}

void writeUname(Exposition& out) {
  utsname system{};
  if (uname(&system) != 0) return;
  const auto textOf = [](const char* text) { return toDistinctUtf8(text); };
  out.family("node_uname_info", "Labeled system information as provided by the uname system call.",
             MetricType::kGauge);
  out.add(MetricValue(1), {{"domainname", textOf(system.domainname)},
                           {"machine", textOf(system.machine)},
                           {"nodename", textOf(system.nodename)},
                           {"release", textOf(system.release)},
                           {"sysname", textOf(system.sysname)},
                           {"version", textOf(system.version)}});
}

// Writes adapters and other supplies that report whether they are online; batteries are covered by the
// probers.
void writeSupplies(const std::string& folder, const std::vector<std::string>& names, Exposition& out) {
  out.family("node_power_supply_online", "online value of /sys/class/power_supply/<power_supply>.",
             MetricType::kGauge);
  for (const std::string& name : names)
    if (const auto value = parseInteger(readSmallFile(folder + name + "/online")))
      out.add(MetricValue::ofSigned(*value), {{"power_supply", toDistinctUtf8(name)}});
}

// EINVAL while the interface is down, and if its driver does not report it.
void addSysfs(LinkMetrics& link, const Roots& roots) {
  if (!link.isRunning) return;
  const std::string folder = linkFolder(roots, link.rawName);
  link.speedMbps = parseInteger(readSmallFile(folder + "/speed"));
  link.duplex = toDistinctUtf8(readSmallFile(folder + "/duplex"));
}

}  // namespace

struct MetricsReader::State {
  explicit State(Roots given) : roots(std::move(given)), uptime(roots), netlink(NETLINK_ROUTE) {
    add("/stat",
        [this](std::string_view text, Exposition& out) { writeStat(text, settleBootTime(), times, out); });
    add("/loadavg", writeLoad);
    add("/meminfo", writeMemory);
    add("/vmstat", writeVmstat);
    for (const std::string resource : {"cpu", "io", "memory", "irq"})
      add("/pressure/" + resource,
          [resource](std::string_view text, Exposition& out) { writePressure(resource, text, out); });
    add("/diskstats", [this](std::string_view text, Exposition& out) {
      writeBlockDevices(
          text, [this](auto major, auto minor) { return readUdev(major, minor); }, out);
    });
    add("/sys/fs/file-nr", writeFileDescriptors);
    for (const NumberFile& row : kNumberFiles)
      add(row.path, [&row](std::string_view text, Exposition& out) {
        if (const auto value = parseInteger(text))
          out.single(row.name, row.help, MetricType::kGauge, MetricValue::ofSigned(*value));
      });
    addClockSource("current_clocksource", writeCurrentClockSource);
    addClockSource("available_clocksource", writeClockSources);
    addNetwork();
  }

  using Write = std::function<void(std::string_view, Exposition&)>;
  void add(const std::string& path, Write write) {
    sources.push_back({KeptFile(roots.proc + path), std::move(write)});
  }

  // Returns Unix seconds, for a container with a start of its own. It is the difference of two clocks, so the
  // previous value is kept while the new one is next to it.
  std::optional<std::uint64_t> settleBootTime() {
    const ClockReading clock = readClock();
    const auto uptimeNs = uptime.readNs(clock.sinceBootNs);
    if (!uptimeNs) return std::nullopt;
    const std::int64_t seconds =
        std::max<std::int64_t>(0, (clock.unixMs - *uptimeNs / 1'000'000 + 500) / 1000);
    if (std::abs(seconds - bootedAt) > 1) bootedAt = seconds;
    return static_cast<std::uint64_t>(bootedAt);
  }

  void addClockSource(const char* name, Write write) {
    const std::string folder = roots.sys + "/devices/system/clocksource/clocksource0/";
    sources.push_back({KeptFile(folder + name), std::move(write)});
  }

  void addNetwork() {
    const std::string net = netFolder(roots);
    const auto addNet = [&](const char* name, Write write) {
      sources.push_back({KeptFile(net + name), std::move(write)});
    };
    const auto pageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const auto sockets = [pageBytes](std::string_view text, Exposition& out) {
      writeSockets(text, pageBytes, out);
    };
    addNet("/sockstat", sockets);
    addNet("/sockstat6", sockets);
    addNet("/snmp", writeProtocols);
    addNet("/netstat", writeProtocols);
    addNet("/snmp6", writeProtocols6);
    addNet("/softnet_stat", writePacketQueues);
    // The kernel would answer for our own network namespace, which is not that of these files.
    if (roots.isDefault()) return;
    addNet("/dev", [](std::string_view text, Exposition& out) {
      auto counters = parseNetDev(text);
      counters.resize(std::min(counters.size(), kMaxLinks));
      writeLinkCounters(counters, out);
    });
  }

  // Writes the last answer if the kernel has none now, so that the series do not come and go.
  void writeNetwork(Exposition& out) {
    if (!roots.isDefault()) return;
    try {
      std::vector<LinkMetrics> found;
      const ifinfomsg all{};
      netlink.ask({RTM_GETLINK, true, bytesOf(all)}, [&](std::string_view message) {
        auto link = found.size() < kMaxLinks ? parseLinkMetrics(message) : std::nullopt;
        if (link) found.push_back(std::move(*link));
      });
      for (LinkMetrics& link : found) addSysfs(link, roots);
      links.swap(found);
    } catch (const HostError&) {
      // Its lock is taken, or memory for the answer is exhausted.
    }
    writeLinks(links, out);
  }

  const std::string& readUdev(std::uint64_t major, std::uint64_t minor) {
    const auto [found, isNew] = udev.try_emplace({major, minor});
    if (isNew)
      found->second = readSmallFile(roots.files + "/run/udev/data/b" + std::to_string(major) + ":" +
                                    std::to_string(minor));
    return found->second;
  }

  void renewSettled() {
    const auto now = std::chrono::steady_clock::now();
    if (settledAt && now - *settledAt < kSettledFor) return;
    udev.clear();
    os = readOs();
    supplies = listFolder(supplyFolder);
    supplies.resize(std::min(supplies.size(), kMaxSupplies));
    settledAt = now;  // not after a lack of memory in one of these
  }

  std::string readOs() const {
    std::string text = readSmallFile(roots.files + "/etc/os-release");
    return text.empty() ? readSmallFile(roots.files + "/usr/lib/os-release") : text;
  }

  std::string read() {
    Exposition out;
    out.reserve(lastSize + lastSize / 8);
    writeTime(out);
    renewSettled();
    for (Source& source : sources) {
      const std::string_view text = source.file.readShortRecordsIfPresent(buffer);
      if (!text.empty()) source.write(text, out);
    }
    writeNetwork(out);
    writeSupplies(supplyFolder, supplies, out);
    writeSystemClock(out);
    writeTimeZone(out);
    writeUname(out);
    writeOs(os, out);
    lastSize = out.text().size();
    return out.take();
  }

  const Roots roots;
  const std::string supplyFolder = roots.sys + "/class/power_supply/";
  std::mutex mutex;
  std::vector<Source> sources;
  UptimeReader uptime;
  std::int64_t bootedAt = 0;
  SteadyTimes times;
  Netlink netlink;
  std::vector<LinkMetrics> links;  // of the last answer
  std::optional<std::chrono::steady_clock::time_point> settledAt;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> udev;  // by the numbers of the device
  std::vector<std::string> supplies;
  std::string os;
  std::string buffer;
  std::size_t lastSize = 0;
};

MetricsReader::MetricsReader(const Roots& roots) : state_(std::make_unique<State>(roots)) {}
MetricsReader::~MetricsReader() = default;

std::string MetricsReader::read() {
  const std::lock_guard lock(state_->mutex);
  return state_->read();
}

}  // namespace hostwire
