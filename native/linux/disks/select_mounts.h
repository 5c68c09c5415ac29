// Decides which mounts are shown as disks. Pure.
#pragma once

#include <vector>

#include "linux/disks/parse_mounts.h"

namespace hostwire {

// The mounts of one filesystem, the shortest mount point first. The first one that is a directory can only be
// found by asking the filesystem, which may hang: a prober does that.
using MountGroup = std::vector<Mount>;

// One entry per filesystem (btrfs: per subvolume) in mountinfo's order:
// - Real filesystems: block devices, btrfs, zfs, network filesystems, FUSE with a source. `/` of any type.
// - Mounts that another one covers, and what lies below such a mount, are not reachable and so not shown.
// - Other mounts of a filesystem (bind mounts) are in the group of the shortest one.
// - Images are left out: each is a file on a filesystem that is listed already, and is always full. They are
//   snaps, running AppImages, ISO files in a loop device, and read-only filesystem types on any device.
std::vector<MountGroup> selectMounts(std::vector<Mount> mounts);

// Returns whether a question to its filesystem waits for a server elsewhere, or for a program (FUSE).
bool mayWaitForServer(const Mount& mount);

// Gives the mounts of `own` the read-only flags that they have in `first`, another process's table; a mount
// that is missing from `first` keeps its own.
void adoptReadOnly(std::vector<Mount>& own, const std::vector<Mount>& first);

}  // namespace hostwire
