// Names of graphics processors.
#pragma once

#include <string>

#include "host/roots.h"
#include "linux/gpu/devices.h"

namespace hostwire {

struct GpuName {
  std::string text;
  bool isFinal = true;  // false if a list exists but could not be read: it may be readable later
};

// Returns the name from the distribution's lists (libdrm's amdgpu.ids, pci.ids), otherwise one made of the
// numbers: "AMD 1002:73bf". Reads a file of a megabyte: call it until the result is final, on a prober's
// thread. Does not touch the device.
GpuName lookUpGpuName(const Roots& roots, const GpuDevice& device);

}  // namespace hostwire
