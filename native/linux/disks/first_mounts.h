// The mount table of the machine's first process, for a service that was given a table of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/disks/parse_mounts.h"
#include "linux/kernel/file.h"

namespace hostwire {

// A unit with ProtectSystem= and its like has a copy of the mount table, made when it starts, in which mounts
// may be read-only. New mounts and unmounts arrive in it; a remount does not (mount(2) changes one mount's
// flags, mount_namespaces(7) propagates none of them).
class FirstMounts {
 public:
  // poll(2) on it as on the own table; -1 where it is not needed.
  int descriptor() const { return file_ ? file_->descriptor() : -1; }

  // `own` was parsed from `ownText`: sets what is read-only to what it is for the first process. Reads
  // nothing any more once the two tables were found to be the same one.
  void correct(std::string_view ownText, std::vector<Mount>& own);

 private:
  std::optional<KeptFile> file_{"/proc/1/mountinfo"};
  std::string buffer_;
};

}  // namespace hostwire
