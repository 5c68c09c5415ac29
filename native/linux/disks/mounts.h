// The mount table, read again only when the kernel reports a change.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "linux/disks/first_mounts.h"
#include "linux/disks/parse_mounts.h"
#include "linux/kernel/file.h"

namespace hostwire {

class MountTable {
 public:
  explicit MountTable(const Roots& roots);

  // The mounts at the first call and after a change, otherwise nothing. Throws HostError when they cannot be
  // read; the next call tries again.
  std::optional<std::vector<Mount>> readIfChanged();

  // Makes the next call return them even without a change.
  void readAgain() { mustRead_ = true; }

  // Of the table: that of the machine's first process under roots that name another machine.
  std::string path() const { return file_ ? file_->path() : roots_.proc + "/self/mountinfo"; }

  // The prefix of the path to a mount point; empty for the mounts this process sees itself.
  const std::string& pathPrefix() const { return prefix_; }

 private:
  void openFirst();
  bool hasChanged();

  const Roots roots_;
  std::string prefix_;
  std::optional<KeptFile> file_;
  std::optional<FirstMounts> first_;  // only beside the table of this process's own machine
  std::string buffer_;
  bool isKernelText_ = false;  // false: a fixture
  bool mustRead_ = true;
  struct stat fixtureBefore_ {};
};

}  // namespace hostwire
