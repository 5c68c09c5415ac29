// Windows has no other uptime than that of its clock.
#include "host/uptime.h"

namespace hostwire {

struct UptimeReader::State {};
UptimeReader::UptimeReader(const Roots&) {}
UptimeReader::~UptimeReader() = default;
std::optional<std::int64_t> UptimeReader::readNs(std::int64_t) { return std::nullopt; }

}  // namespace hostwire
