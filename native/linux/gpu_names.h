// What graphics processors are called.
#pragma once

#include <string>

#include "host/roots.h"
#include "linux/gpu_devices.h"

namespace hostwire {

// From the lists of the distribution (libdrm's amdgpu.ids, pci.ids), else made of the numbers: "AMD
// 1002:73bf". Reads a file of a megabyte: ask once, on a prober's thread. Does not touch the device.
std::string lookUpGpuName(const Roots& roots, const GpuDevice& device);

}  // namespace hostwire
