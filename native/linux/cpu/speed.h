// The processors' clock speeds from cpufreq (Documentation/admin-guide/pm/cpufreq.rst) or /proc/cpuinfo.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"
#include "linux/cpu/parse_cpu.h"
#include "linux/kernel/file.h"

namespace hostwire {

enum class SpeedScope { kSome, kAll };

// Belongs to one prober's question: used by one thread at a time.
class CpuSpeed {
 public:
  CpuSpeed(const Roots& roots, SpeedScope scope);
  // Ordered by processor; empty without a source. With kSome, an even spread that stands for all.
  std::vector<CoreSpeed> read();

 private:
  // Files of one processor's policy.
  struct Frequency {
    explicit Frequency(const std::string& folder);
    // cpuinfo_avg_freq, since Linux 6.16: the measured mean of the last milliseconds. An idle ARM core fails
    // with EAGAIN.
    std::optional<KeptFile> average;
    // scaling_cur_freq: the frequency requested of the hardware, except where the kernel measures it here too
    // (CONFIG_CPUFREQ_ARCH_CUR_FREQ, the default on x86).
    KeptFile current;
  };

  std::vector<std::uint32_t> chooseCores();
  std::vector<CoreSpeed> readCpufreq();
  std::optional<double> readOne(Frequency& frequency);
  bool isSlow() const;
  std::vector<CoreSpeed> readCpuinfo();

  SpeedScope scope_;
  std::string cpuFolder_;
  KeptFile online_;
  KeptFile cpuinfo_;
  std::map<std::uint32_t, Frequency> frequencies_;
  std::size_t slowReads_ = 0;
  bool hasFastRead_ = false;
  std::optional<std::chrono::steady_clock::time_point> withoutCpufreqSince_;
  std::string buffer_;
};

// Returns the row about the speed: the mean of the processors.
Finding describeSpeed(const Roots& roots, std::optional<double> hz);

}  // namespace hostwire
