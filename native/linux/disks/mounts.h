// The mount table, and a watch for its changes.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/roots.h"
#include "linux/disks/parse_mounts.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Reports changes of the mount table without reading it: one poll(2) on descriptors that stay open.
class MountWatch {
 public:
  // Duplicates both; `first` may be -1.
  MountWatch(int own, int first);
  // Returns whether it has changed since the last call, or since the descriptors were opened.
  bool takeChange() const;

 private:
  FileDescriptor own_;
  FileDescriptor first_;
};

// Belongs to one prober's question: with 1,500 mounts the kernel takes milliseconds to write the text, and it
// waits for the holder of the mount namespace's lock.
class MountTable {
 public:
  explicit MountTable(const Roots& roots);

  // Throws HostError.
  std::vector<Mount> read();

  // Absent before the first reading, and for a fixture, which reports nothing.
  const std::shared_ptr<const MountWatch>& watch() const { return watch_; }
  // Returns whether a fixture is another file than the one last read.
  bool hasFixtureChanged() const;

  // Returns the path of the table: that of the machine's first process under roots that name another machine.
  std::string path() const { return file_ ? file_->path() : roots_.proc + "/self/mountinfo"; }

  // Returns the prefix of the path to a mount point; empty for the mounts that this process sees itself.
  const std::string& pathPrefix() const { return prefix_; }

 private:
  void openFirst();
  void correct(std::string_view ownText, std::vector<Mount>& own);

  const Roots roots_;
  std::string prefix_;
  std::optional<KeptFile> file_;
  // The table of the machine's first process: only beside that of this process's own machine, and only while
  // the two differ.
  std::optional<KeptFile> first_;
  std::shared_ptr<const MountWatch> watch_;
  std::string buffer_;
  std::string firstBuffer_;
  bool isKernelText_ = false;  // false: a fixture
  struct stat fixture_ {};     // its state when it was last read
};

}  // namespace hostwire
