// What /sys and /dev report about block devices (Documentation/ABI/stable/sysfs-block, udev's links).
#include "linux/disks/devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "linux/disks/parse_disks.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"

namespace hostwire {
namespace {

std::string lastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string folderOf(const Roots& roots, DeviceNumber number) {
  return roots.sys + "/dev/block/" + std::to_string(number.major) + ":" + std::to_string(number.minor);
}

// btrfs and others with several devices have an anonymous number; their source names (one of) the devices.
std::optional<DeviceNumber> findNumber(const Roots& roots, const DeviceQuestion& question) {
  if (question.number.major != 0) return question.number;
  if (!question.source.starts_with("/dev/")) return std::nullopt;
  struct stat device {};
  if (stat((roots.files + question.source).c_str(), &device) == 0 && S_ISBLK(device.st_mode))
    return DeviceNumber{major(device.st_rdev), minor(device.st_rdev)};
  return parseDeviceNumber(readSmallFile(roots.sys + "/class/block/" + lastPart(question.source) + "/dev"));
}

// Documentation/filesystems/btrfs.rst: /sys/fs/btrfs/UUID/devices has a link for each device of a filesystem.
std::vector<DeviceNumber> findParts(const Roots& roots, const std::string& name) {
  const std::string folder = roots.sys + "/fs/btrfs";
  for (const std::string& filesystem : listFolder(folder)) {
    const auto names = listFolder(std::string(folder).append("/").append(filesystem).append("/devices"));
    if (names.size() < 2 || !std::binary_search(names.begin(), names.end(), name)) continue;
    std::vector<DeviceNumber> parts;
    for (const std::string& part : names) {
      const std::string block = roots.sys + "/class/block/";
      if (const auto number =
              parseDeviceNumber(readSmallFile(std::string(block).append(part).append("/dev"))))
        parts.push_back(*number);
    }
    return parts;
  }
  return {};
}

std::map<std::string, std::string> readLabels(const Roots& roots) {
  std::map<std::string, std::string> byDevice;
  const std::string folder = roots.files + "/dev/disk/by-label/";
  for (const std::string& name : listFolder(folder))
    byDevice.emplace(lastPart(linkTarget(folder + name)), parseLabelLink(name));
  return byDevice;
}

// A partition has no such file, but the disk, the folder above, has one.
std::optional<bool> readRemovable(const std::string& folder) {
  for (const char* file : {"/removable", "/../removable"}) {
    const std::string text = readSmallFile(folder + file);
    if (text == "0" || text == "1") return text == "1";
  }
  return std::nullopt;
}

// The boot loader's name of the root (/dev/root) is no device, and nobody knows a device as /dev/dm-0.
std::string shownPath(const std::string& folder, const std::string& name, const std::string& source) {
  if (source.starts_with("/dev/") && source != "/dev/root" && !source.starts_with("/dev/dm-")) return source;
  const std::string mapped = readSmallFile(folder + "/dm/name");
  if (!mapped.empty()) return "/dev/mapper/" + mapped;
  return name.empty() ? source : "/dev/" + name;
}

}  // namespace

DiskDevices readDiskDevices(const Roots& roots, const std::vector<DeviceQuestion>& questions) {
  const auto labels = readLabels(roots);
  std::vector<DiskDevice> devices;
  devices.reserve(questions.size());
  for (const DeviceQuestion& question : questions) {
    DiskDevice device;
    device.number = findNumber(roots, question);
    if (device.number) {
      const std::string folder = folderOf(roots, *device.number);
      std::string name = lastPart(linkTarget(folder));
      device.path = shownPath(folder, name, question.source);
      device.isRemovable = readRemovable(folder);
      if (name.empty()) name = lastPart(question.source);
      if (question.number.major == 0) device.parts = findParts(roots, name);
      if (const auto label = labels.find(name); label != labels.end()) device.label = label->second;
    }
    devices.push_back(std::move(device));
  }
  return std::make_shared<const std::vector<DiskDevice>>(std::move(devices));
}

}  // namespace hostwire
