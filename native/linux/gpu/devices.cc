// Finds graphics processors: on the PCI bus (Documentation/ABI/testing/sysfs-bus-pci), then elsewhere.
#include "linux/gpu/devices.h"

#include <algorithm>
#include <utility>

#include "linux/gpu/parse_gpu.h"
#include "linux/gpu/platform.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"

namespace hostwire {
namespace {

// The class file is 0xBBSSPP. Base class 03 is a display controller; AMD's server accelerators, which have
// the same driver, are 12.
constexpr std::uint32_t kDisplayClass = 0x03;
constexpr std::uint32_t kAcceleratorClass = 0x12;

// Adapters of virtual machines and of remote management (bochs, virtio, QXL, VMware, ASPEED, Matrox) have
// nothing to read: their vendors are not listed.
std::optional<GpuVendor> vendorOf(std::uint32_t vendorId, std::uint32_t classCode) {
  const std::uint32_t baseClass = classCode >> 16U;
  if (vendorId == 0x1002 && (baseClass == kDisplayClass || baseClass == kAcceleratorClass))
    return GpuVendor::kAmd;
  if (baseClass != kDisplayClass) return std::nullopt;
  if (vendorId == 0x10de) return GpuVendor::kNvidia;
  if (vendorId == 0x8086) return GpuVendor::kIntel;
  return std::nullopt;
}

std::uint32_t readId(const std::string& path, bool& isWhole) {
  const auto id = parsePciId(readSmallFile(path));
  isWhole = isWhole && id.has_value();
  return id.value_or(0);
}

// Prefers the chip named like the driver: i915 also has one for each part of a card
// ("i915_gt0").
std::string findHwmon(const std::string& folder, const std::string& driver) {
  const std::string chips = folder + "/hwmon/";
  auto names = listFolder(chips);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("hwmon"); });
  if (names.empty()) return {};
  const auto own = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return names.size() > 1 && readSmallFile(chips + name + "/name") == driver;
  });
  return chips + (own == names.end() ? names.front() : *own);
}

std::vector<std::string> findNodes(const std::string& folder) {
  std::vector<std::string> nodes;
  for (std::string& name : listFolder(folder + "/drm"))
    if (name.starts_with("card") || name.starts_with("render")) nodes.push_back(std::move(name));
  return nodes;
}

// Intel's integrated processors have a fixed address (all others are on a card); AMD's have a voltage of the
// processor's other half, which amdgpu shows as in1 only for them.
bool isIntegrated(GpuVendor vendor, const std::string& address, const std::string& hwmon) {
  if (vendor == GpuVendor::kIntel) return address.ends_with(":00:02.0");
  return vendor == GpuVendor::kAmd && !hwmon.empty() && isPresent(hwmon + "/in1_input");
}

}  // namespace

std::optional<GpuOfChip> findGpuOfChip(const std::string& deviceFolder, const std::string& hwmonFolder) {
  bool isWhole = true;
  const std::uint32_t vendorId = readId(deviceFolder + "/vendor", isWhole);
  const std::uint32_t classCode = readId(deviceFolder + "/class", isWhole);
  const auto vendor = isWhole ? vendorOf(vendorId, classCode) : std::nullopt;
  if (!vendor) return std::nullopt;
  return GpuOfChip{isIntegrated(*vendor, linkedName(deviceFolder), hwmonFolder)};
}

const char* nameOf(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::kNvidia: return "NVIDIA";
    case GpuVendor::kAmd: return "AMD";
    case GpuVendor::kApple: return "Apple";
    case GpuVendor::kArm: return "Arm";
    case GpuVendor::kBroadcom: return "Broadcom";
    case GpuVendor::kImagination: return "Imagination";
    case GpuVendor::kQualcomm: return "Qualcomm";
    case GpuVendor::kVivante: return "Vivante";
    case GpuVendor::kIntel: break;
  }
  return "Intel";
}

const char* modulesOf(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::kNvidia: return "nvidia (or nouveau)";
    case GpuVendor::kAmd: return "amdgpu";
    default: break;
  }
  return "i915 or xe";
}

// Intel's drivers and some of AMD's APUs report no load: it is summed over the processes that may be
// inspected.
std::string loadRemedyOf(const GpuDevice& device) {
  if (!device.isOnPci) return platformLoadRemedy(device);
  if (device.driver == "i915" || device.driver == "xe" || device.driver == "amdgpu")
    return "run it as root: this user cannot see any process that uses it";
  return device.driver == "nouveau" ? "use NVIDIA's own driver, which reports it" : "";
}

GpuDiscovery::GpuDiscovery(Roots roots) : roots_(std::move(roots)) {}

const GpuDiscovery::Identity& GpuDiscovery::identityOf(const std::string& name) {
  Identity& identity = identities_[name];
  if (identity.isWhole) return identity;
  const std::string folder = roots_.sys + "/bus/pci/devices/" + name;
  bool isWhole = true;
  identity.vendorId = readId(folder + "/vendor", isWhole);
  identity.vendor = vendorOf(identity.vendorId, readId(folder + "/class", isWhole));
  if (identity.vendor) {
    identity.deviceId = readId(folder + "/device", isWhole);
    identity.revision = readId(folder + "/revision", isWhole);
  }
  identity.isWhole = isWhole;
  return identity;
}

GpuDevice GpuDiscovery::describe(const std::string& name, const Identity& identity) const {
  GpuDevice device;
  device.address = name;
  device.folder = roots_.sys + "/bus/pci/devices/" + name;
  device.vendor = *identity.vendor;
  device.vendorId = identity.vendorId;
  device.deviceId = identity.deviceId;
  device.revision = identity.revision;
  device.driver = linkedName(device.folder + "/driver");
  device.hwmon = findHwmon(device.folder, device.driver);
  device.nodes = findNodes(device.folder);
  device.isBootDisplay = readSmallFile(device.folder + "/boot_vga") == "1";
  device.isIntegrated = isIntegrated(device.vendor, name, device.hwmon);
  return device;
}

SharedInventory GpuDiscovery::read() {
  GpuInventory found;
  const auto names = listFolder(roots_.sys + "/bus/pci/devices");
  // Another device may be added at the address of a removed one.
  std::erase_if(identities_, [&](const auto& known) {
    return !std::binary_search(names.begin(), names.end(), known.first);
  });
  bool hasNvidia = false;
  for (const std::string& name : names) {
    const Identity& identity = identityOf(name);
    if (!identity.vendor) continue;
    hasNvidia = hasNvidia || identity.vendor == GpuVendor::kNvidia;
    found.devices.push_back(describe(name, identity));
  }
  for (GpuDevice& device : findPlatformGpus(roots_)) found.devices.push_back(std::move(device));
  found.hasUnlistedNvidia = !hasNvidia && (isPresent(roots_.proc + "/driver/nvidia/version") ||
                                           isPresent(roots_.files + "/dev/dxg"));
  if (!inventory_ || *inventory_ != found)
    inventory_ = std::make_shared<const GpuInventory>(std::move(found));
  return inventory_;
}

}  // namespace hostwire
