// Files of v3d (gpu_stats), panfrost and panthor (Documentation/gpu/panfrost.rst, panthor.rst), nvgpu,
// devfreq (Documentation/ABI/testing/sysfs-class-devfreq) and thermal zones.
#include "linux/gpu/platform.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "linux/gpu/names.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/parse_proc.h"

namespace hostwire {
namespace {

constexpr double kHzPerMhz = 1e6;
constexpr double kPermillePerPercent = 10;
// Minimum window: between closer readings of the queues chance dominates the load.
constexpr std::uint64_t kShortestWindowNs = 20'000'000;

struct KnownDriver {
  std::string_view name;
  GpuVendor vendor;
};
// Drivers that only display (vc4, tegra-drm, rockchip-drm) are not listed.
constexpr std::array<KnownDriver, 11> kDrivers{{
    {"v3d", GpuVendor::kBroadcom},
    {"panfrost", GpuVendor::kArm},
    {"panthor", GpuVendor::kArm},
    {"lima", GpuVendor::kArm},
    {"adreno", GpuVendor::kQualcomm},
    {"msm_dpu", GpuVendor::kQualcomm},
    {"etnaviv", GpuVendor::kVivante},
    {"powervr", GpuVendor::kImagination},
    {"asahi", GpuVendor::kApple},
    {"gk20a", GpuVendor::kNvidia},
    {"nvgpu", GpuVendor::kNvidia},
}};

// Returns nothing if `folder` is not the device of a known driver, or is on PCI.
std::optional<GpuDevice> describeDevice(const std::string& folder) {
  const std::string driver = linkedName(folder + "/driver");
  const auto known = std::find_if(kDrivers.begin(), kDrivers.end(),
                                  [&](const KnownDriver& one) { return one.name == driver; });
  if (known == kDrivers.end() || linkedName(folder + "/subsystem") == "pci") return std::nullopt;
  GpuDevice device;
  device.address = linkedName(folder);
  device.folder = folder;
  device.isOnPci = false;
  device.model = findModel(readSmallFile(folder + "/uevent"));
  if (device.model.empty()) device.model = driver;
  device.vendor = known->vendor;
  device.driver = driver;
  device.isIntegrated = true;
  return device;
}

GpuDevice* find(std::vector<GpuDevice>& devices, const std::string& address) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const GpuDevice& device) { return device.address == address; });
  return found == devices.end() ? nullptr : &*found;
}

bool isNode(const std::string& name) {
  const auto digits = name.find_first_of("0123456789");
  return (name.starts_with("card") || name.starts_with("renderD")) && digits != std::string::npos &&
         name.find_first_not_of("0123456789", digits) == std::string::npos;
}

std::vector<KeptFile> findClocks(const std::string& folder) {
  const std::string governors = folder + "/devfreq/";
  std::vector<KeptFile> clocks;
  for (const std::string& name : listFolder(governors)) clocks.emplace_back(governors + name + "/cur_freq");
  return clocks;
}

// The zones of Mali and Tegra are "gpu-thermal", "gpu_thermal", "GPU-therm"; a Raspberry Pi has one for the
// chip.
std::vector<KeptFile> findTemperatures(const Roots& roots) {
  const std::string zones = roots.sys + "/class/thermal/";
  std::vector<KeptFile> temperatures;
  for (const std::string& name : listFolder(zones)) {
    const std::string type = readSmallFile(zones + name + "/type");
    if (type.starts_with("gpu") || type.starts_with("GPU")) temperatures.emplace_back(zones + name + "/temp");
  }
  return temperatures;
}

}  // namespace

std::vector<GpuDevice> findPlatformGpus(const Roots& roots) {
  std::vector<GpuDevice> devices;
  const auto add = [&](const std::string& folder, const std::string& node) {
    auto device = describeDevice(folder);
    if (!device) return;
    GpuDevice* known = find(devices, device->address);
    if (known == nullptr) known = &devices.emplace_back(std::move(*device));
    if (!node.empty()) known->nodes.push_back(node);
  };
  const std::string nodes = roots.sys + "/class/drm/";
  for (const std::string& name : listFolder(nodes))
    if (isNode(name)) add(nodes + name + "/device", name);
  const std::string governors = roots.sys + "/class/devfreq/";
  for (const std::string& name : listFolder(governors)) add(governors + name + "/device", "");
  return devices;
}

std::string platformLoadRemedy(const GpuDevice& device) {
  if (device.driver == "panfrost" || device.driver == "panthor")
    return "write 3 to " + device.folder + "/profiling (panfrost: 1), and run it as root";
  if (device.driver == "lima" || device.vendor == GpuVendor::kNvidia) return "";
  return "run it as root: this user cannot see any process that uses it";
}

PlatformGpu::PlatformGpu(const Roots& roots, GpuDevice device)
    : device_(std::move(device)),
      name_(lookUpGpuName(roots, device_).text),
      clients_(roots.proc, device_),
      queues_(keepIfPresent(device_.folder + "/gpu_stats")),
      load_(device_.vendor == GpuVendor::kNvidia ? keepIfPresent(device_.folder + "/load") : std::nullopt),
      profiling_(keepIfPresent(device_.folder + "/profiling")),
      clocks_(findClocks(device_.folder)),
      temperatures_(findTemperatures(roots)) {}

std::optional<double> PlatformGpu::readQueues() {
  if (!queues_) return std::nullopt;
  auto queues = parseGpuQueues(queues_->readIfPresent(buffer_));
  if (queues.empty()) {
    before_.clear();  // lets the next source answer
    return std::nullopt;
  }
  const bool isSoon =
      !before_.empty() && queues.front().readAtNs - before_.front().readAtNs < kShortestWindowNs;
  if (isSoon) return queueLoad_;
  queueLoad_ = queueLoadBetween(before_, queues);
  before_ = std::move(queues);
  return queueLoad_;
}

std::optional<double> PlatformGpu::readLoad() {
  const auto load = readQueues();
  if (!before_.empty()) return load;
  if (load_) return parseScaled(load_->readIfPresent(buffer_), kPermillePerPercent, 100);
  if (device_.vendor == GpuVendor::kNvidia) return std::nullopt;
  const bool isUnaccounted = profiling_ && profiling_->readIfPresent(buffer_).starts_with('0');
  if (device_.nodes.empty() || isUnaccounted) return std::nullopt;
  return clients_.readLoad();
}

GpuAnswer PlatformGpu::read(bool withDetail) {
  GpuAnswer answer;
  answer.address = device_.address;
  answer.name = name_;
  answer.values.loadPercent = readLoad();
  answer.values.temperatureCelsius = parseZoneTemperature(readFirst(temperatures_, buffer_));
  if (withDetail || !answer.values.isAnyKnown())
    answer.values.clockMhz = parseScaled(readFirst(clocks_, buffer_), kHzPerMhz, kMaxGpuMhz);
  if (!answer.values.isAnyKnown()) answer.failure.reason = "its driver reports nothing in /sys";
  return answer;
}

}  // namespace hostwire
