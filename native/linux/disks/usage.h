// Reads how full a filesystem is: the question of a prober.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/disks.h"

namespace hostwire {

struct DiskUsageReply {
  std::size_t index = 0;      // index of the path
  bool hasDirectory = false;  // false: none of the paths is a directory, and there is no usage
  DiskUsage usage;
};

// Asked on a prober's thread, one at a time: it may wait forever.
class DiskUsageQuestion {
 public:
  // `paths`: mount points of one filesystem. The first directory among them is asked.
  explicit DiskUsageQuestion(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  // Throws HostError.
  DiskUsageReply ask();

 private:
  std::optional<std::size_t> findDirectory();

  const std::vector<std::string> paths_;
  std::optional<std::size_t> found_;  // once it is certain
};

}  // namespace hostwire
