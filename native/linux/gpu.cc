// Graphics processors of Linux: none are read yet, so the list is empty and `gpu` is null.
#include "host/gpu.h"

namespace hostwire {

struct GpuReader::State {};
GpuReader::GpuReader(const Roots& /*roots*/, ProberPool& /*probers*/) {}
GpuReader::~GpuReader() = default;
std::vector<GpuCounters> GpuReader::read(bool /*withDetail*/) { return {}; }

}  // namespace hostwire
