// Parsers of Linux's texts about graphics processors: ids, names, runtime suspend, sensors, DRM clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

// Parses "0x1002", as in a PCI device's vendor, device, class and revision files.
std::optional<std::uint32_t> parsePciId(std::string_view text);

// Returns whether the device is asleep or about to be: runtime_status of
// Documentation/ABI/testing/sysfs-devices-power.
bool isSuspended(std::string_view text);

// Parses a single whole number that is not negative, divided by `unit`; nothing above `max`.
std::optional<double> parseScaled(std::string_view text, double unit, double max);

// Returns which of a chip's temperatures are the device's, best first, as positions in `labels` (empty where
// an input has none): the edge of the die (amdgpu), the package (xe), those without a name, the hottest spot.
// Never the memory's or a regulator's.
std::vector<std::size_t> rankGpuTemperatures(const std::vector<std::string>& labels);

// Returns the name of a device in pci.ids(5): the text in brackets at its end ("Navi 21 [Radeon RX 6800
// XT]"), which is the retail name, otherwise all of it. Empty if it is not listed.
std::string findPciName(std::string_view list, std::uint32_t vendor, std::uint32_t device);

// Returns the name of a device in libdrm's amdgpu.ids: "73BF,     C1,     AMD Radeon RX 6800 XT". Empty if it
// is not listed.
std::string findAmdgpuName(std::string_view list, std::uint32_t device, std::uint32_t revision);

// Returns the first name of a device in the device tree without its maker, from its uevent file: "2712-v3d"
// of "OF_COMPATIBLE_0=brcm,2712-v3d". Empty if it has none.
std::string findModel(std::string_view uevent);

// One line of v3d's gpu_stats: how long a queue of the device has run, and when that was read; both in
// nanoseconds.
struct GpuQueue {
  std::string name;
  std::uint64_t readAtNs = 0;
  std::uint64_t busyNs = 0;
};
std::vector<GpuQueue> parseGpuQueues(std::string_view text);
// Returns how busy the busiest queue was between two readings, in percent. Nothing if no time passed.
std::optional<double> queueLoadBetween(const std::vector<GpuQueue>& before,
                                       const std::vector<GpuQueue>& after);

// One client's use of one kind of engine of a device (Documentation/gpu/drm-usage-stats.rst).
struct DrmEngine {
  std::string name;
  std::optional<std::uint64_t> busyNs;      // i915, amdgpu, panfrost: nanoseconds
  std::optional<std::uint64_t> busyCycles;  // xe: of totalCycles
  std::optional<std::uint64_t> totalCycles;
  std::uint64_t capacity = 1;  // engines of this kind
};
struct DrmClient {
  std::string driver;
  std::string device;  // "0000:00:02.0"; empty off PCI
  std::uint64_t id = 0;
  std::vector<DrmEngine> engines;
};
// Parses /proc/PID/fdinfo/FD. Nothing if the descriptor is not a DRM client's.
std::optional<DrmClient> parseDrmClient(std::string_view text);

// Returns how busy `clients` kept the busiest kind of engine between two readings, `elapsedNs` apart, in
// percent. A client that is new, or counts less than before, counts as 0.
double drmLoadBetween(const std::vector<DrmClient>& before, const std::vector<DrmClient>& clients,
                      double elapsedNs);

}  // namespace hostwire
