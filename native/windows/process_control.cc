// Not read on Windows yet.
#include "host/process.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

std::optional<std::string> whyNoProcessControl(const Roots&) { return "not on this system"; }
SignalOutcome signalProcess(const ProcessId&, EndSignal) { throw HostError(ENOTSUP, "signal a process"); }
std::vector<bool> waitForEnd(std::span<const ProcessId>, std::chrono::milliseconds) {
  throw HostError(ENOTSUP, "wait for a process");
}

}  // namespace hostwire
