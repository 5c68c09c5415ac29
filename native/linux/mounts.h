// The mount table, read again only when the kernel says that it changed.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "host/roots.h"
#include "linux/file.h"

namespace hostwire {

class MountTable {
 public:
  explicit MountTable(const Roots& roots);

  // True when `text` holds a new reading: the first one, or after a change. Throws HostError when the table can't
  // be read; the next call tries again.
  bool readIfChanged(std::string& text);

  // What leads to the mount points: empty for this process's own table.
  const std::string& pathPrefix() const { return prefix_; }

 private:
  void openFirst();
  bool hasChanged();

  Roots roots_;
  std::string path_;
  std::string prefix_;
  FileDescriptor fd_;
  std::string buffer_;
  bool isKernelText_ = false;  // not a fixture: poll tells of changes
  bool mustRead_ = true;
  std::int64_t fixtureSize_ = -1;
  timespec fixtureChangedAt_{};
};

}  // namespace hostwire
