// Not read on Windows yet.
#include "host/process.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct ProcessReader::State {};
ProcessReader::ProcessReader(const Roots&) : state_(std::make_shared<State>()) {}
ProcessReader::~ProcessReader() = default;
std::shared_ptr<const ProcessReading> ProcessReader::latest(std::chrono::milliseconds) { return nullptr; }
ProcessReading ProcessReader::read(State&) { throw HostError(ENOTSUP, "read processes"); }
std::optional<ProcessDetails> ProcessReader::readDetails(State&, std::int32_t) {
  throw HostError(ENOTSUP, "read a process");
}
std::vector<std::optional<std::string>> ProcessReader::readPaths(State&, std::span<const ProcessId>) {
  throw HostError(ENOTSUP, "read processes");
}

}  // namespace hostwire
