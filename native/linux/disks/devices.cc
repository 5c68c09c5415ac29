// Reads /sys and /dev for facts about block devices (Documentation/ABI/stable/sysfs-block, udev's links).
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

std::optional<DeviceNumber> numberOf(const Roots& roots, const std::string& name) {
  return parseDeviceNumber(
      readSmallFile(std::string(roots.sys + "/class/block/").append(name).append("/dev")));
}

// Entries below /dev/disk are links.
std::string nameOf(const Roots& roots, const std::string& path) {
  const std::string target = linkTarget(roots.files + path);
  return lastPart(target.empty() ? path : target);
}

std::optional<DeviceNumber> findNumber(const Roots& roots, const std::string& path) {
  struct stat device {};
  if (stat((roots.files + path).c_str(), &device) == 0 && S_ISBLK(device.st_mode))
    return DeviceNumber{major(device.st_rdev), minor(device.st_rdev)};
  return numberOf(roots, nameOf(roots, path));
}

// A filesystem on several devices has an anonymous number, and its source names some or all of them. Empty if
// one of these is not found, because the others would be only a part.
std::vector<DeviceNumber> findNumbers(const Roots& roots, const DeviceQuestion& question) {
  if (question.number.major != 0) return {question.number};
  std::vector<DeviceNumber> numbers;
  for (const std::string& path : devicePathsOf(question.source)) {
    const auto number = findNumber(roots, path);
    if (!number) return {};
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) numbers.push_back(*number);
  }
  return numbers;
}

// Returns the names of the devices of each filesystem. Documentation/filesystems/btrfs.rst:
// /sys/fs/btrfs/UUID/devices has a link for each. bcachefs: /sys/fs/bcachefs/UUID/dev-0 has a link named
// "block" (bch2_dev_sysfs_online).
std::vector<std::vector<std::string>> listMembers(const Roots& roots) {
  std::vector<std::vector<std::string>> members;
  const std::string btrfs = roots.sys + "/fs/btrfs/";
  for (const std::string& filesystem : listFolder(btrfs))
    members.push_back(listFolder(std::string(btrfs).append(filesystem).append("/devices")));
  const std::string bcachefs = roots.sys + "/fs/bcachefs/";
  for (const std::string& filesystem : listFolder(bcachefs)) {
    std::vector<std::string> names;
    const std::string folder = std::string(bcachefs).append(filesystem).append("/");
    for (const std::string& device : listFolder(folder))
      if (device.starts_with("dev-"))
        names.push_back(linkedName(std::string(folder).append(device).append("/block")));
    members.push_back(std::move(names));
  }
  return members;
}

// Returns all devices of the filesystem to which `name` belongs; empty if it is the only one.
std::vector<DeviceNumber> findParts(const Roots& roots, const std::string& name) {
  for (const auto& names : listMembers(roots)) {
    if (names.size() < 2 || std::find(names.begin(), names.end(), name) == names.end()) continue;
    std::vector<DeviceNumber> parts;
    for (const std::string& part : names)
      if (const auto number = numberOf(roots, part)) parts.push_back(*number);
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

// The file is missing for a partition, but its disk, the folder above, has one.
std::optional<bool> readRemovable(const std::string& folder) {
  for (const char* file : {"/removable", "/../removable"}) {
    const std::string text = readSmallFile(folder + file);
    if (text == "0" || text == "1") return text == "1";
  }
  return std::nullopt;
}

// The boot loader's name of the root (/dev/root) is not a device, and users do not know a device as
// /dev/dm-0.
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
    const auto numbers = findNumbers(roots, question);
    if (!numbers.empty()) {
      device.number = numbers.front();
      const std::string folder = folderOf(roots, *device.number);
      std::string name = lastPart(linkTarget(folder));
      device.path = shownPath(folder, name, question.source);
      device.isRemovable = readRemovable(folder);
      const auto paths = devicePathsOf(question.source);
      if (name.empty() && !paths.empty()) name = nameOf(roots, paths.front());
      if (numbers.size() > 1)
        device.parts = numbers;
      else if (question.number.major == 0)
        device.parts = findParts(roots, name);
      if (const auto label = labels.find(name); label != labels.end()) device.label = label->second;
    }
    devices.push_back(std::move(device));
  }
  return std::make_shared<const std::vector<DiskDevice>>(std::move(devices));
}

}  // namespace hostwire
