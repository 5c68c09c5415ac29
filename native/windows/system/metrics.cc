// Windows has no counters as text: its metrics are made from a reading (src/metrics/).
#include "host/metrics.h"

#include "host/error.h"

namespace hostwire {

struct MetricsReader::State {};
MetricsReader::MetricsReader(const Roots&) {}
MetricsReader::~MetricsReader() = default;

std::string MetricsReader::read() { throw HostError(std::errc::not_supported, "read metrics"); }

}  // namespace hostwire
