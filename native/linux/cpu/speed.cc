// Reads the real frequency of the online processors, otherwise the requested one, otherwise cpuinfo's.
#include "linux/cpu/speed.h"

#include <algorithm>
#include <cmath>

#include "linux/kernel/parse_proc.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;

// Maximum number of processors that are read: enough for the mean. Cores of a kind run at the same speed, an
// even spread covers every kind and package, and reading every core of a 256-core server would interrupt each
// of them on every tick.
constexpr std::size_t kMaxSampled = 16;
// Maximum where reading is slow: on kernels 4.15 to 5.18 a read sleeps for 10 to 20 ms; probers are asked 100
// ms before the reading.
constexpr std::size_t kMaxSampledWhenSlow = 4;
constexpr std::chrono::milliseconds kSlowRead{5};
// Slow reads that show that reading sleeps: a single one may be a thread that lost its processor.
constexpr std::size_t kSlowReads = 4;
// Above this number of processors, descriptors are opened per round: the process needs them for other things.
constexpr std::size_t kMaxKept = 128;
// Time between searches: a cpufreq driver may be loaded after the service started.
constexpr std::chrono::seconds kCpufreqRetry{60};
// Bytes for the entries of about kMaxSampled processors. The kernel generates the text as it is read, 20 µs
// per entry.
constexpr std::size_t kCpuinfoHeadBytes = 24'576;

}  // namespace

CpuSpeed::CpuSpeed(const Roots& roots, SpeedScope scope)
    : scope_(scope),
      cpuFolder_(roots.sys + "/devices/system/cpu/"),
      online_(cpuFolder_ + "online"),
      cpuinfo_(roots.proc + "/cpuinfo") {}

std::vector<std::uint32_t> CpuSpeed::chooseCores() {
  auto online = parseCpuList(online_.readIfPresent(buffer_));
  const std::size_t limit = isSlow() ? kMaxSampledWhenSlow : kMaxSampled;
  if (scope_ == SpeedScope::kAll || online.size() <= limit) return online;
  std::vector<std::uint32_t> chosen;
  for (std::size_t at = 0; at < limit; ++at) chosen.push_back(online[at * online.size() / limit]);
  return chosen;
}

bool CpuSpeed::isSlow() const { return !hasFastRead_ && slowReads_ >= kSlowReads; }

CpuSpeed::Frequency::Frequency(const std::string& folder)
    : average(keepIfPresent(folder + "cpuinfo_avg_freq")), current(folder + "scaling_cur_freq") {}

// Returns kilohertz. Some drivers request 0 for a sleeping core, so 0 is a valid speed, but not as a mean.
std::optional<double> CpuSpeed::readOne(Frequency& frequency) {
  const auto begun = Clock::now();
  auto khz = frequency.average ? parseInteger(frequency.average->readIfPresent(buffer_)) : std::nullopt;
  if (!khz || *khz <= 0) khz = parseInteger(frequency.current.readIfPresent(buffer_));
  if (!khz || *khz < 0) return std::nullopt;
  if (!hasFastRead_ && slowReads_ < kSlowReads) {
    hasFastRead_ = Clock::now() - begun < kSlowRead;
    if (!hasFastRead_) ++slowReads_;
  }
  return static_cast<double>(*khz) * 1000;
}

std::vector<CoreSpeed> CpuSpeed::readCpufreq() {
  std::vector<CoreSpeed> speeds;
  const auto cores = chooseCores();
  std::erase_if(frequencies_, [&](const auto& kept) {
    return !std::binary_search(cores.begin(), cores.end(), kept.first);
  });
  for (const std::uint32_t index : cores) {
    const auto [kept, isNew] =
        frequencies_.try_emplace(index, cpuFolder_ + "cpu" + std::to_string(index) + "/cpufreq/");
    const auto hz = readOne(kept->second);
    if (hz) speeds.push_back({index, *hz});
  }
  if (frequencies_.size() > kMaxKept) frequencies_.clear();
  return speeds;
}

std::vector<CoreSpeed> CpuSpeed::readCpuinfo() {
  if (scope_ == SpeedScope::kAll) return parseCpuinfoSpeeds(cpuinfo_.readIfPresent(buffer_));
  return parseCpuinfoSpeeds(cpuinfo_.readHeadIfPresent(buffer_, kCpuinfoHeadBytes));
}

std::vector<CoreSpeed> CpuSpeed::read() {
  const auto now = Clock::now();
  if (!withoutCpufreqSince_ || now - *withoutCpufreqSince_ >= kCpufreqRetry) {
    auto speeds = readCpufreq();
    withoutCpufreqSince_ = speeds.empty() ? std::optional(now) : std::nullopt;
    if (!speeds.empty()) return speeds;
  }
  return readCpuinfo();
}

Finding describeSpeed(const Roots& roots, std::optional<double> hz) {
  const std::string cpufreq = roots.sys + "/devices/system/cpu/cpu*/cpufreq";
  const std::string cpuinfo = roots.proc + "/cpuinfo";
  if (!hz)
    return Finding::missing("speed", cpufreq + " and " + cpuinfo,
                            {"no cpufreq files, and /proc/cpuinfo has no line with MHz", ""});
  const auto mhz = std::llround(*hz / 1e6);
  return Finding::works("speed", std::to_string(mhz) + " MHz from " + cpufreq + " or " + cpuinfo);
}

}  // namespace hostwire
