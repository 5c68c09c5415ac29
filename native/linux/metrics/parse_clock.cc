// The units of adjtimex(2): microseconds, or nanoseconds while STA_NANO is set, and parts per million with 16
// bits of fraction.
#include "linux/metrics/parse_clock.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "linux/kernel/scan.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

constexpr unsigned kMicroseconds = 6;
constexpr unsigned kNanoseconds = 9;
// Limits the answer; a machine has two or three.
constexpr std::size_t kMaxSources = 16;

// The kernel's limit is 500 ppm; beyond it the product below would not fit.
constexpr std::int64_t kMaxScaledPpm = std::int64_t{512} << 16;
constexpr unsigned kRatioDecimals = 16;
constexpr std::int64_t kOne = 10'000'000'000'000'000;

// 2^-16 ppm is 0.152587890625e-12.
std::int64_t ratioOf(std::int64_t scaledPpm) {
  return std::clamp(scaledPpm, -kMaxScaledPpm, kMaxScaledPpm) * 152'587'890'625 / 1'000'000;
}

struct ClockRow {
  const char* name;
  const char* help;
  MetricType type;
  MetricValue (*of)(const timex& clock);
};

MetricValue fineTime(const timex& clock, std::int64_t value) {
  return MetricValue::ofSigned(value, (clock.status & STA_NANO) != 0 ? kNanoseconds : kMicroseconds);
}

constexpr std::array kRows{
    ClockRow{"node_timex_offset_seconds", "Time offset in between local system and reference clock.",
             MetricType::kGauge, [](const timex& clock) { return fineTime(clock, clock.offset); }},
    ClockRow{
        "node_timex_frequency_adjustment_ratio", "Local clock frequency adjustment.", MetricType::kGauge,
        [](const timex& clock) { return MetricValue::ofSigned(kOne + ratioOf(clock.freq), kRatioDecimals); }},
    ClockRow{"node_timex_maxerror_seconds", "Maximum error in seconds.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.maxerror, kMicroseconds); }},
    ClockRow{"node_timex_estimated_error_seconds", "Estimated error in seconds.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.esterror, kMicroseconds); }},
    ClockRow{"node_timex_status", "Value of the status array bits.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.status); }},
    ClockRow{"node_timex_loop_time_constant", "Phase-locked loop time constant.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.constant); }},
    ClockRow{"node_timex_tick_seconds", "Seconds between clock ticks.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.tick, kMicroseconds); }},
    ClockRow{
        "node_timex_pps_frequency_hertz", "Pulse per second frequency.", MetricType::kGauge,
        [](const timex& clock) { return MetricValue::ofSigned(ratioOf(clock.ppsfreq), kRatioDecimals); }},
    ClockRow{"node_timex_pps_jitter_seconds", "Pulse per second jitter.", MetricType::kGauge,
             [](const timex& clock) { return fineTime(clock, clock.jitter); }},
    ClockRow{"node_timex_pps_shift_seconds", "Pulse per second interval duration.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.shift); }},
    ClockRow{"node_timex_pps_stability_hertz",
             "Pulse per second stability, average of recent frequency changes.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(ratioOf(clock.stabil), kRatioDecimals); }},
    ClockRow{"node_timex_pps_jitter_total", "Pulse per second count of jitter limit exceeded events.",
             MetricType::kCounter, [](const timex& clock) { return MetricValue::ofSigned(clock.jitcnt); }},
    ClockRow{"node_timex_pps_calibration_total", "Pulse per second count of calibration intervals.",
             MetricType::kCounter, [](const timex& clock) { return MetricValue::ofSigned(clock.calcnt); }},
    ClockRow{"node_timex_pps_error_total", "Pulse per second count of calibration errors.",
             MetricType::kCounter, [](const timex& clock) { return MetricValue::ofSigned(clock.errcnt); }},
    ClockRow{"node_timex_pps_stability_exceeded_total",
             "Pulse per second count of stability limit exceeded events.", MetricType::kCounter,
             [](const timex& clock) { return MetricValue::ofSigned(clock.stbcnt); }},
    ClockRow{"node_timex_tai_offset_seconds", "International Atomic Time (TAI) offset.", MetricType::kGauge,
             [](const timex& clock) { return MetricValue::ofSigned(clock.tai); }}};

void addSource(std::string_view name, Exposition& out) {
  out.add(MetricValue(1), {{"clocksource", toDistinctUtf8(name)}, {"device", "0"}});
}

// Returns the first line, the only one of the file.
std::string_view firstLine(std::string_view text) {
  std::string_view line;
  takeLine(text, line);
  return line;
}

}  // namespace

void writeClock(const timex& clock, int state, Exposition& out) {
  for (const ClockRow& row : kRows) out.single(row.name, row.help, row.type, row.of(clock));
  out.single("node_timex_sync_status", "Is clock synchronized to a reliable server (1 = yes, 0 = no).",
             MetricType::kGauge, MetricValue::ofFlag(state != TIME_ERROR));
}

void writeCurrentClockSource(std::string_view text, Exposition& out) {
  std::string_view line = firstLine(text);
  const std::string_view name = takeWord(line);
  if (name.empty()) return;
  out.family("node_time_clocksource_current_info",
             "Current clocksource read from '/sys/devices/system/clocksource'.", MetricType::kGauge);
  addSource(name, out);
}

void writeClockSources(std::string_view text, Exposition& out) {
  out.family("node_time_clocksource_available_info",
             "Available clocksources read from '/sys/devices/system/clocksource'.", MetricType::kGauge);
  std::array<std::string_view, kMaxSources> written;
  std::size_t count = 0;
  std::string_view line = firstLine(text);
  for (auto name = takeWord(line); !name.empty() && count < kMaxSources; name = takeWord(line)) {
    if (std::find(written.begin(), written.begin() + count, name) != written.begin() + count) continue;
    written.at(count++) = name;
    addSource(name, out);
  }
}

}  // namespace hostwire
