// Texts of /proc with counters of the whole machine.
#include "linux/metrics/parse_counters.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "linux/kernel/parse_proc.h"
#include "linux/kernel/scan.h"
#include "linux/kernel/text.h"
#include "linux/system/parse_system.h"

namespace hostwire {
namespace {

// The texts count in USER_HZ, which is 100 on every architecture that Node runs on.
constexpr unsigned kTickDecimals = 2;
constexpr std::uint64_t kTicksPerSecond = 100;
// More fields than any kernel has.
constexpr std::size_t kMaxFields = 256;

struct Processor {
  std::string index;
  SteadyTimes::Ticks ticks{};
};

std::optional<Processor> parseProcessor(std::string_view line, SteadyTimes& times) {
  line.remove_prefix(3);
  // The line of all processors together has a blank there.
  if (line.empty() || isBlank(line.front())) return std::nullopt;
  const auto index = takeUnsigned(line);
  if (!index) return std::nullopt;
  SteadyTimes::Ticks ticks{};
  for (std::uint64_t& one : ticks) one = takeUnsigned(line).value_or(0);
  return Processor{std::to_string(*index), times.advance(*index, ticks)};
}

void writeProcessors(const std::vector<Processor>& processors, Exposition& out) {
  constexpr std::array kModes{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
  out.family("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.", MetricType::kCounter);
  for (const Processor& one : processors)
    for (std::size_t at = 0; at < kModes.size(); ++at)
      out.add(MetricValue(one.ticks[at], kTickDecimals), {{"cpu", one.index}, {"mode", kModes[at]}});
  out.family("node_cpu_guest_seconds_total", "Seconds the CPUs spent in guests (VMs) for each mode.",
             MetricType::kCounter);
  for (const Processor& one : processors) {
    out.add(MetricValue(one.ticks[8], kTickDecimals), {{"cpu", one.index}, {"mode", "user"}});
    out.add(MetricValue(one.ticks[9], kTickDecimals), {{"cpu", one.index}, {"mode", "nice"}});
  }
}

struct StatLine {
  std::string_view key;
  const char* name;
  const char* help;
  MetricType type;
};
// Only the first number of `intr` is the total: the others count each interrupt.
constexpr std::array kStatLines{
    StatLine{"intr", "node_intr_total", "Total number of interrupts serviced.", MetricType::kCounter},
    StatLine{"ctxt", "node_context_switches_total", "Total number of context switches.",
             MetricType::kCounter},
    StatLine{"btime", "node_boot_time_seconds", "Node boot time, in unixtime.", MetricType::kGauge},
    StatLine{"processes", "node_forks_total", "Total number of forks.", MetricType::kCounter},
    StatLine{"procs_running", "node_procs_running", "Number of processes in runnable state.",
             MetricType::kGauge},
    StatLine{"procs_blocked", "node_procs_blocked",
             "Number of processes blocked waiting for I/O to complete.", MetricType::kGauge}};

// Returns "Active(anon)" as Active_anon; empty if a character is not allowed in names.
std::string fieldName(std::string_view field) {
  std::string name;
  for (const char c : field) {
    if (c == '(')
      name.push_back('_');
    else if (c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
      name.push_back(c);
    else if (c != ')')
      return {};
  }
  return name;
}

// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=12": microseconds.
std::optional<MetricValue> parseStalled(std::string_view line) {
  constexpr std::string_view kKey = "total=";
  const std::size_t at = line.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kKey.size());
  const auto microseconds = takeUnsigned(line);
  if (!microseconds) return std::nullopt;
  return MetricValue(*microseconds, 6);
}

struct PressureLine {
  std::string_view resource;
  std::string_view line;
  const char* name;
  const char* help;
};
// For the processor only `some`: all tasks cannot wait for it at the same time.
constexpr std::array kPressureLines{
    PressureLine{"cpu", "some", "node_pressure_cpu_waiting_seconds_total",
                 "Total time in seconds that processes have waited for CPU time"},
    PressureLine{"io", "some", "node_pressure_io_waiting_seconds_total",
                 "Total time in seconds that processes have waited due to IO congestion"},
    PressureLine{"io", "full", "node_pressure_io_stalled_seconds_total",
                 "Total time in seconds no process could make progress due to IO congestion"},
    PressureLine{"memory", "some", "node_pressure_memory_waiting_seconds_total",
                 "Total time in seconds that processes have waited for memory"},
    PressureLine{"memory", "full", "node_pressure_memory_stalled_seconds_total",
                 "Total time in seconds no process could make progress due to memory congestion"},
    PressureLine{"irq", "full", "node_pressure_irq_stalled_seconds_total",
                 "Total time in seconds no process could make progress due to IRQ congestion"}};

bool isShownInVmstat(std::string_view field) {
  return field.starts_with("oom_kill") || field.starts_with("pgpg") || field.starts_with("pswp") ||
         (field.starts_with("pg") && field.find("fault", 2) != std::string_view::npos);
}

// Returns the beginning of "22.04.1 LTS" that is a number with at most one point.
std::string_view leadingNumber(std::string_view text) {
  std::size_t end = 0;
  bool hasPoint = false;
  const auto isDigitAt = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  while (isDigitAt(end) || (end > 0 && !hasPoint && text[end] == '.' && isDigitAt(end + 1))) {
    hasPoint = hasPoint || text[end] == '.';
    if (++end == text.size()) break;
  }
  return text.substr(0, end);
}

}  // namespace

// 3 s back is more than the kernel's corrections: the processor was offline, and its counters restarted.
const SteadyTimes::Ticks& SteadyTimes::advance(std::uint64_t processor, const Ticks& now) {
  constexpr std::size_t kIdle = 3;
  Ticks& last = last_[processor];
  const bool hasRestarted = last[kIdle] > now[kIdle] && last[kIdle] - now[kIdle] > 3 * kTicksPerSecond;
  for (std::size_t at = 0; at < kCount; ++at) last[at] = hasRestarted ? now[at] : std::max(last[at], now[at]);
  return last;
}

void writeStat(std::string_view text, std::optional<std::uint64_t> bootedAt, SteadyTimes& times,
               Exposition& out) {
  std::vector<Processor> processors;
  std::string_view line;
  bool isWritten = false;
  while (takeLine(text, line)) {
    if (line.starts_with("cpu")) {
      auto one = processors.size() < kMaxProcessors ? parseProcessor(line, times) : std::nullopt;
      if (one && !isWritten) processors.push_back(std::move(*one));
      continue;
    }
    if (!isWritten) writeProcessors(processors, out);
    isWritten = true;
    const std::string_view key = takeWord(line);
    for (const StatLine& row : kStatLines) {
      if (row.key != key) continue;
      const auto value = takeUnsigned(line);
      if (value)
        out.single(row.name, row.help, row.type,
                   MetricValue(key == "btime" ? bootedAt.value_or(*value) : *value));
    }
  }
  if (!isWritten) writeProcessors(processors, out);
}

void writeLoad(std::string_view text, Exposition& out) {
  constexpr std::array<std::array<const char*, 2>, 3> kLoads{{{"node_load1", "1m load average."},
                                                              {"node_load5", "5m load average."},
                                                              {"node_load15", "15m load average."}}};
  for (const auto& [name, help] : kLoads)
    if (const auto value = parseMetricValue(takeWord(text)))
      out.single(name, help, MetricType::kGauge, *value);
}

void writeMemory(std::string_view text, Exposition& out) {
  std::string_view line;
  for (std::size_t count = 0; count < kMaxFields && takeLine(text, line); ++count) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string field = fieldName(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    std::string_view number = line;
    auto value = takeUnsigned(line);
    if (takeWord(line) == "kB") {
      value = takeKib(number);
      field.append("_bytes");
    }
    // No machine has 0 bytes of memory, but lxcfs has reported that.
    if (field.empty() || !value || (field == "MemTotal_bytes" && *value == 0)) continue;
    out.single("node_memory_" + field, "Memory information field " + field + ".", MetricType::kGauge,
               MetricValue(*value));
  }
}

void writePressure(std::string_view resource, std::string_view text, Exposition& out) {
  std::string_view line;
  while (takeLine(text, line))
    for (const PressureLine& row : kPressureLines) {
      if (row.resource != resource || !line.starts_with(row.line)) continue;
      if (const auto value = parseStalled(line)) out.single(row.name, row.help, MetricType::kCounter, *value);
    }
}

void writeVmstat(std::string_view text, Exposition& out) {
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view word = takeWord(line);
    if (!isShownInVmstat(word)) continue;
    const std::string field = fieldName(word);
    const auto value = takeUnsigned(line);
    if (field.empty() || !value) continue;
    out.single("node_vmstat_" + field, "/proc/vmstat information field " + field + ".", MetricType::kUntyped,
               MetricValue(*value));
  }
}

void writeFileDescriptors(std::string_view text, Exposition& out) {
  const auto allocated = parseMetricValue(takeWord(text));
  takeWord(text);  // free ones: always 0
  const auto maximum = takeUnsigned(text);
  if (allocated)
    out.single("node_filefd_allocated", "File descriptor statistics: allocated.", MetricType::kGauge,
               *allocated);
  if (maximum)
    out.single("node_filefd_maximum", "File descriptor statistics: maximum.", MetricType::kGauge,
               MetricValue(*maximum));
}

void writeOs(std::string_view text, Exposition& out) {
  const OsReleaseFields fields = parseOsReleaseFields(text);
  const auto find = [&](const char* key) {
    const auto found = fields.find(key);
    return found == fields.end() ? std::string{} : toDistinctUtf8(found->second);
  };
  const std::string id = find("ID"), idLike = find("ID_LIKE"), name = find("NAME");
  if (fields.empty()) return;
  const std::string versionId = find("VERSION_ID");
  out.family("node_os_info",
             "A metric with a constant '1' value labeled by build_id, id, id_like, image_id, image_version, "
             "name, pretty_name, variant, variant_id, version, version_codename, version_id.",
             MetricType::kGauge);
  out.add(MetricValue(1), {{"build_id", find("BUILD_ID")},
                           {"id", id},
                           {"id_like", idLike},
                           {"image_id", find("IMAGE_ID")},
                           {"image_version", find("IMAGE_VERSION")},
                           {"name", name},
                           {"pretty_name", find("PRETTY_NAME")},
                           {"variant", find("VARIANT")},
                           {"variant_id", find("VARIANT_ID")},
                           {"version", find("VERSION")},
                           {"version_codename", find("VERSION_CODENAME")},
                           {"version_id", versionId}});
  const auto version = parseMetricValue(leadingNumber(versionId));
  if (!version) return;
  out.family("node_os_version", "Metric containing the major.minor part of the OS version.",
             MetricType::kGauge);
  out.add(*version, {{"id", id}, {"id_like", idLike}, {"name", name}});
}

}  // namespace hostwire
