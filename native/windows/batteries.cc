// Not read on Windows yet.
#include "host/batteries.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct BatteriesReader::State {};
BatteriesReader::BatteriesReader(const Roots&, ProberPool&) {}
BatteriesReader::~BatteriesReader() = default;
std::vector<BatteryCounters> BatteriesReader::read() { return {}; }

}  // namespace hostwire
