// The graphics processors of a Linux machine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

enum class GpuVendor { kNvidia, kAmd, kIntel, kApple, kArm, kBroadcom, kImagination, kQualcomm, kVivante };

struct GpuDevice {
  std::string address;  // "0000:01:00.0"; for a part of a system on a chip "1002000000.v3d"
  std::string folder;   // of its files: "/sys/bus/pci/devices/0000:01:00.0"
  bool isOnPci = true;
  std::string model;  // off PCI only: its name in the device tree, "2712-v3d"
  GpuVendor vendor = GpuVendor::kNvidia;
  std::uint32_t vendorId = 0;
  std::uint32_t deviceId = 0;
  std::uint32_t revision = 0;
  std::string driver;              // "amdgpu"; empty without one
  std::string hwmon;               // the folder of its sensors; empty without them
  std::vector<std::string> nodes;  // of its driver: "card0", "renderD128"
  bool isBootDisplay = false;      // the display that the firmware used
  bool isIntegrated = false;

  bool operator==(const GpuDevice&) const = default;
};

struct GpuInventory {
  std::vector<GpuDevice> devices;  // by address
  // NVIDIA's driver is loaded although none of its devices is on the bus: WSL, and containers without /sys.
  bool hasUnlistedNvidia = false;

  bool operator==(const GpuInventory&) const = default;
};
using SharedInventory = std::shared_ptr<const GpuInventory>;

// The device to which a hwmon chip belongs, judged by its files; nothing if that is not a graphics processor
// of the vendors above.
struct GpuOfChip {
  bool isIntegrated = false;
};
std::optional<GpuOfChip> findGpuOfChip(const std::string& deviceFolder, const std::string& hwmonFolder);

const char* nameOf(GpuVendor vendor);
// Returns the kernel modules that serve a vendor's devices.
const char* modulesOf(GpuVendor vendor);
// Returns how to make the load of a device readable that does not report it; empty if there is no way.
std::string loadRemedyOf(const GpuDevice& device);

// Used by one thread at a time. Reads only what the kernel keeps in memory: no device is woken.
class GpuDiscovery {
 public:
  explicit GpuDiscovery(Roots roots);
  // Searches; returns the same object as long as nothing changes.
  SharedInventory read();

 private:
  struct Identity {
    std::optional<GpuVendor> vendor;  // nothing: not a graphics processor of these vendors
    std::uint32_t vendorId = 0;
    std::uint32_t deviceId = 0;
    std::uint32_t revision = 0;
    bool isWhole = false;  // false: something could not be read, and is read again at the next search
  };

  const Identity& identityOf(const std::string& name);
  GpuDevice describe(const std::string& name, const Identity& identity) const;

  Roots roots_;
  std::map<std::string, Identity> identities_;  // by their names on the bus
  SharedInventory inventory_;
};

}  // namespace hostwire
