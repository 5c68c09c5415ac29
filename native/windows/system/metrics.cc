// Windows has no texts of counters: its metrics are made of what a reading has (src/metrics/).
#include "host/metrics.h"

#include "host/error.h"

namespace hostwire {

struct MetricsReader::State {};
MetricsReader::MetricsReader(const Roots&) {}
MetricsReader::~MetricsReader() = default;

std::string MetricsReader::read() { throw HostError(std::errc::not_supported, "read metrics"); }

}  // namespace hostwire
