// Not read on Windows yet.
#include "host/gpu.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

struct GpuReader::State {
  std::string failure;
};
GpuReader::GpuReader(const Roots&, const GpuOptions&, ProberPool&) : state_(std::make_unique<State>()) {}
GpuReader::~GpuReader() = default;
std::vector<GpuCounters> GpuReader::read(bool) { return {}; }
const std::string& GpuReader::failure() const { return state_->failure; }
std::vector<GpuFinding> GpuReader::describe() const { return {}; }

}  // namespace hostwire
