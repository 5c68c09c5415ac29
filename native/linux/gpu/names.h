// What graphics processors are called.
#pragma once

#include <string>

#include "host/roots.h"
#include "linux/gpu/devices.h"

namespace hostwire {

struct GpuName {
  std::string text;
  bool isFinal = true;  // false where a list is there and could not be read: another time it may be
};

// From the lists of the distribution (libdrm's amdgpu.ids, pci.ids), else made of the numbers: "AMD
// 1002:73bf". Reads a file of a megabyte: ask until it is final, on a prober's thread. Does not touch the
// device.
GpuName lookUpGpuName(const Roots& roots, const GpuDevice& device);

}  // namespace hostwire
