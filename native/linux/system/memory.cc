// Memory counters from /proc/meminfo, /proc/pressure/memory and, with ZFS, the statistics of its cache.
#include "host/memory.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "host/error.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/system/arc.h"

namespace hostwire {

struct MemoryReader::State {
  explicit State(const Roots& roots)
      : meminfo(roots.proc + "/meminfo"), pressure(roots.proc + "/pressure/memory"), arc(roots) {}
  KeptFile meminfo;
  KeptFile pressure;
  ArcCache arc;
  std::string buffer;
};

MemoryReader::MemoryReader(const Roots& roots) : state_(std::make_unique<State>(roots)) {}
MemoryReader::~MemoryReader() = default;

MemoryCounters MemoryReader::read(bool withDetail) {
  auto counters = parseMeminfo(state_->meminfo.readShortRecords(state_->buffer));
  if (!counters) throw HostError(EBADMSG, "parse " + state_->meminfo.path());
  const std::uint64_t cache = state_->arc.readShrinkableBytes(state_->meminfo.descriptor(), state_->buffer);
  counters->availableBytes += std::min(cache, counters->totalBytes - counters->availableBytes);
  if (withDetail)
    counters->pressure = parsePressure(state_->pressure.readShortRecordsIfPresent(state_->buffer));
  return *counters;
}

Findings MemoryReader::describe() {
  const std::string& source = state_->meminfo.path();
  return describeOrExplain("memory", source, [&]() -> Findings {
    const MemoryCounters counters = read(true);
    const std::string size = std::to_string(counters.totalBytes >> 20U) + " MiB";
    const std::string& pressure = state_->pressure.path();
    return {Finding::works("memory", size + " from " + source),
            counters.pressure ? Finding::works("pressure", "from " + pressure)
                              : Finding::missing("pressure", pressure,
                                                 {"the kernel is older than 4.20 or does not measure it",
                                                  "boot with psi=1"})};
  });
}

}  // namespace hostwire
