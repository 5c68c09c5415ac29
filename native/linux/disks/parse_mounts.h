// Parser of Linux's mount table: pure, never throws, accepts anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

struct DeviceNumber {
  std::uint32_t major = 0;  // 0: not a block device (an anonymous number of btrfs, zfs, nfs, tmpfs, …)
  std::uint32_t minor = 0;
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
  friend bool operator<(const DeviceNumber& a, const DeviceNumber& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

// One line of mountinfo. Strings are raw bytes with the kernel's escapes undone.
struct Mount {
  std::uint64_t id = 0;
  std::uint64_t parentId = 0;
  DeviceNumber device;
  std::string root;   // the mounted directory of the filesystem
  std::string point;  // the mount point
  std::string type;
  std::string source;
  std::string subvolume;    // btrfs: the number or name of the subvolume; otherwise empty
  std::string options;      // cgroup: those of the filesystem, with its controllers; otherwise empty
  bool isReadOnly = false;  // the mount or its filesystem
};

// Parses proc_pid_mountinfo(5). Malformed lines are left out.
std::vector<Mount> parseMountinfo(std::string_view text);

// Returns the paths of the devices that `source` names; empty if it names none. bcachefs writes those of all
// its devices, as they were named when it was mounted: "/dev/sda:/dev/disk/by-id/…" (bch2_show_devname). A
// path below by-path has colons too. A tag of fstab(5), such as "UUID=…", is converted to its link in
// /dev/disk.
std::vector<std::string> devicePathsOf(std::string_view source);

// Parses "8:1", as sysfs writes device numbers.
std::optional<DeviceNumber> parseDeviceNumber(std::string_view text);

}  // namespace hostwire
