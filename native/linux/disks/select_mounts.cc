// Decides which mounts are shown as disks.
#include "linux/disks/select_mounts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hostwire {
namespace {

template <std::size_t N>
bool isAmong(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Filesystems whose server is elsewhere, including a virtual machine's host.
constexpr std::array<std::string_view, 20> kNetworkTypes{
    "nfs",  "nfs4",   "cifs",     "smb3",  "smbfs", "ceph",  "9p",       "glusterfs", "afs",    "lustre",
    "gpfs", "beegfs", "orangefs", "pvfs2", "coda",  "ncpfs", "virtiofs", "vboxsf",    "vmhgfs", "prl_fs"};

// FUSE filesystems without data of their own: views of sessions, of the kernel or of layers.
constexpr std::array<std::string_view, 6> kFuseViews{"fuse.portal",       "fuse.gvfsd-fuse",
                                                     "fuse.lxcfs",        "fuse.vmware-vmblock",
                                                     "fuse.rofiles-fuse", "fuse.fuse-overlayfs"};

// Programs that show the content of an image file.
constexpr std::array<std::string_view, 6> kFuseImages{"fuse.squashfuse", "fuse.squashfuse_ll",
                                                      "fuse.snapfuse",   "fuse.erofsfuse",
                                                      "fuse.dwarfs",     "fuse.fuseiso"};

// Written once when the image is made and always full, on whatever device.
constexpr std::array<std::string_view, 4> kImageTypes{"squashfs", "erofs", "cramfs", "romfs"};

// Discs, unless they are in a loop device.
constexpr std::array<std::string_view, 2> kDiscTypes{"iso9660", "udf"};

// Kept in memory or composed of other filesystems, regardless of their source.
constexpr std::array<std::string_view, 7> kSourcelessTypes{"tmpfs",   "devtmpfs", "ramfs", "rootfs",
                                                           "overlay", "aufs",     "autofs"};

bool isNetwork(const Mount& mount) { return isAmong(mount.type, kNetworkTypes); }

bool isFuse(const Mount& mount) { return mount.type == "fuse" || mount.type.starts_with("fuse."); }

// An AppImage shows its own content in a folder that begins with ".mount_". Its file name is the source, and
// with "fuse." in front the type; a user who renames the file removes the ending.
bool isAppImage(const Mount& mount) {
  if (!isFuse(mount) || !mount.isReadOnly) return false;
  const std::string_view folder = std::string_view(mount.point).substr(mount.point.rfind('/') + 1);
  return mount.source.ends_with(".AppImage") || mount.type.ends_with(".AppImage") ||
         (folder.starts_with(".mount_") && mount.type == "fuse." + mount.source);
}

// Returns whether it is a file on a filesystem that is already listed.
bool isImage(const Mount& mount) {
  if (isAmong(mount.type, kImageTypes) || isAmong(mount.type, kFuseImages) || isAppImage(mount)) return true;
  return isAmong(mount.type, kDiscTypes) && mount.source.starts_with("/dev/loop");
}

bool isReal(const Mount& mount) {
  if (isAmong(mount.type, kSourcelessTypes) || isImage(mount)) return false;
  if (isFuse(mount))
    return !mount.source.empty() && mount.source != "none" && !isAmong(mount.type, kFuseViews);
  // These have anonymous device numbers; ubifs is on flash memory, its source is "ubi0:rootfs".
  constexpr std::array<std::string_view, 3> kOwnVolumes{"zfs", "btrfs", "ubifs"};
  if (isNetwork(mount) || isAmong(mount.type, kOwnVolumes)) return true;
  // A filesystem on several devices (bcachefs) has an anonymous number too.
  return mount.device.major != 0 || !devicePathsOf(mount.source).empty();
}

// Returns the directory above; empty above the root.
std::string_view parentPath(std::string_view path) {
  if (path.size() <= 1) return {};
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

// Decides which mounts a path still leads to.
class Visibility {
 public:
  explicit Visibility(const std::vector<Mount>& mounts) {
    for (const Mount& mount : mounts) {
      byId_[mount.id] = &mount;
      if (mount.parentId == mount.id) continue;
      points_.emplace(mount.parentId, mount.point);
      last_[{mount.parentId, mount.point}] = mount.id;
    }
  }

  bool isVisible(const Mount& mount) const {
    if (isCovered(mount)) return false;
    const Mount* at = &mount;
    // Limited, because the parents in a table may form a cycle.
    for (std::size_t steps = 0; steps < byId_.size(); ++steps) {
      const auto parent = byId_.find(at->parentId);
      // The kernel's own first mount (rootfs) is its own parent: a mount on top of it does not hide it.
      if (parent != byId_.end() && parent->second == at) return true;
      if (isShadowed(*at)) return false;
      if (parent == byId_.end()) return true;
      at = parent->second;
    }
    return false;
  }

 private:
  // Returns whether another mount was made on this mount's root.
  bool isCovered(const Mount& mount) const { return points_.contains({mount.id, mount.point}); }

  // Returns whether another mount of the same parent is on the path to this one, or was mounted later at the
  // same place.
  bool isShadowed(const Mount& mount) const {
    if (mount.parentId == mount.id) return false;  // the very first one
    const auto last = last_.find({mount.parentId, mount.point});
    if (last != last_.end() && last->second != mount.id) return true;
    const auto parent = byId_.find(mount.parentId);
    const std::string_view top = parent == byId_.end() ? std::string_view{} : parent->second->point;
    for (auto path = parentPath(mount.point); !path.empty(); path = parentPath(path)) {
      if (points_.contains({mount.parentId, path})) return true;
      if (path == top) break;
    }
    return false;
  }

  std::unordered_map<std::uint64_t, const Mount*> byId_;
  std::set<std::pair<std::uint64_t, std::string_view>> points_;
  std::map<std::pair<std::uint64_t, std::string_view>, std::uint64_t> last_;
};

// Two mounts with the same identity are one filesystem. A server's exports may share one device number.
using Identity = std::tuple<DeviceNumber, std::string, std::string>;

Identity identityOf(const Mount& mount) {
  return {mount.device, mount.subvolume, isNetwork(mount) ? mount.source : std::string{}};
}

}  // namespace

std::vector<MountGroup> selectMounts(std::vector<Mount> mounts) {
  std::map<Identity, MountGroup> groups;
  std::map<std::uint64_t, std::size_t> order;
  {
    const Visibility visibility(mounts);
    for (std::size_t i = 0; i < mounts.size(); ++i) {
      const Mount& mount = mounts[i];
      if (mount.point != "/" && !isReal(mount)) continue;
      if (!visibility.isVisible(mount)) continue;
      order[mount.id] = i;
      groups[identityOf(mount)].push_back(mount);
    }
  }
  std::vector<MountGroup> selected;
  selected.reserve(groups.size());
  for (auto& [identity, group] : groups) {
    std::stable_sort(group.begin(), group.end(),
                     [](const Mount& a, const Mount& b) { return a.point.size() < b.point.size(); });
    selected.push_back(std::move(group));
  }
  std::sort(selected.begin(), selected.end(), [&](const MountGroup& a, const MountGroup& b) {
    return order[a.front().id] < order[b.front().id];
  });
  return selected;
}

bool mayWaitForServer(const Mount& mount) { return isNetwork(mount) || isFuse(mount); }

void adoptReadOnly(std::vector<Mount>& own, const std::vector<Mount>& first) {
  std::unordered_map<std::string_view, const Mount*> byPoint;
  for (const Mount& mount : first)
    byPoint[mount.point] = &mount;  // the last one at a place is the visible one
  for (Mount& mount : own) {
    const auto found = byPoint.find(mount.point);
    if (found == byPoint.end()) continue;
    const Mount& other = *found->second;
    if (other.device == mount.device && other.root == mount.root && other.type == mount.type)
      mount.isReadOnly = other.isReadOnly;
  }
}

}  // namespace hostwire
