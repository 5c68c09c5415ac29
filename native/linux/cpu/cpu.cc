// Processor times, load average and pressure from /proc; temperature and speed from cpu_sensors.
#include "host/cpu.h"

#include <cerrno>
#include <string>
#include <utility>

#include "host/error.h"
#include "linux/cpu/sensors.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"

namespace hostwire {

struct CpuReader::State {
  State(const Roots& roots, ProberPool& probers)
      : stat(roots.proc + "/stat"),
        loadavg(roots.proc + "/loadavg"),
        pressure(roots.proc + "/pressure/cpu"),
        sensors(roots, probers) {}
  KeptFile stat;
  KeptFile loadavg;
  KeptFile pressure;
  CpuSensors sensors;
  std::string buffer;
};

CpuReader::CpuReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
CpuReader::~CpuReader() = default;

CpuCounters CpuReader::read(bool withDetail) {
  CpuCounters counters;
  auto* cores = withDetail ? &counters.cores : nullptr;
  if (!parseStat(state_->stat.readShortRecords(state_->buffer), counters.total, cores))
    throw HostError(EBADMSG, "parse " + state_->stat.path());
  if (withDetail) {
    counters.loadAverage = parseLoadavg(state_->loadavg.readShortRecordsIfPresent(state_->buffer));
    counters.pressure = parsePressure(state_->pressure.readShortRecordsIfPresent(state_->buffer));
  }
  state_->sensors.read(counters, withDetail);
  return counters;
}

Findings CpuReader::describe() {
  CpuCounters counters;
  auto findings = describeOrExplain("cpu", state_->stat.path(), [&]() -> Findings {
    counters = read(true);
    return {
        Finding::works("cpu", countOf(counters.cores.size(), "processor") + " from " + state_->stat.path())};
  });
  // These values come from other files.
  if (findings.front().status == Finding::Status::kMissing) state_->sensors.read(counters, true);
  for (Finding& finding : state_->sensors.describe(counters)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace hostwire
