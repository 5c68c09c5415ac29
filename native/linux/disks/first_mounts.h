// The mount table of the machine's first process, for a service that has a mount table of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/disks/parse_mounts.h"
#include "linux/kernel/file.h"

namespace hostwire {

// A unit with ProtectSystem= or similar options has a copy of the mount table, made when it starts, in which
// mounts may be read-only. New mounts and unmounts arrive in it; a remount does not (mount(2) changes one
// mount's flags, mount_namespaces(7) propagates none of them).
class FirstMounts {
 public:
  // For poll(2), like the own table's; -1 where it is not needed.
  int descriptor() const { return file_ ? file_->descriptor() : -1; }

  // `own` was parsed from `ownText`: sets the read-only flags to those of the first process. Reads nothing
  // more once the two tables were found to be the same.
  void correct(std::string_view ownText, std::vector<Mount>& own);

 private:
  std::optional<KeptFile> file_{"/proc/1/mountinfo"};
  std::string buffer_;
};

}  // namespace hostwire
