// Reads how full a filesystem is: stat(2), then statvfs(3).
#include "linux/disks/usage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "host/error.h"

namespace hostwire {
namespace {

// A filesystem over FUSE or the network may report anything: a product that does not fit becomes the maximum.
std::uint64_t bytesOf(std::uint64_t blocks, std::uint64_t blockBytes) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(blocks, blockBytes, &bytes) ? UINT64_MAX : bytes;
}

// If root's reserve is in use, statvfs(3) reports a "negative" count as an enormous number.
std::uint64_t countOf(fsblkcnt_t blocks) { return blocks > INT64_MAX ? 0 : blocks; }

DiskUsage usageOf(const struct statvfs& filesystem) {
  DiskUsage usage;
  const std::uint64_t blockBytes = filesystem.f_frsize != 0 ? filesystem.f_frsize : filesystem.f_bsize;
  usage.totalBytes = bytesOf(filesystem.f_blocks, blockBytes);
  usage.freeBytes = std::min(usage.totalBytes, bytesOf(countOf(filesystem.f_bfree), blockBytes));
  usage.availableBytes = std::min(usage.totalBytes, bytesOf(countOf(filesystem.f_bavail), blockBytes));
  usage.files = filesystem.f_files;
  usage.filesFree = std::min<std::uint64_t>(filesystem.f_files, filesystem.f_ffree);
  return usage;
}

}  // namespace

DiskUsageReply DiskUsageQuestion::ask() {
  const auto found = found_ ? found_ : findDirectory();
  if (!found) return {};
  const std::string& path = paths_[*found];
  struct statvfs filesystem {};
  while (statvfs(path.c_str(), &filesystem) != 0)
    if (errno != EINTR) throw HostError(errno, "statvfs " + path);
  return {*found, true, usageOf(filesystem)};
}

// Containers mount single files (/etc/hosts) from a filesystem that may also be mounted as a directory. A
// path before the found one that cannot be read now may still be a directory: then the search is repeated the
// next time.
std::optional<std::size_t> DiskUsageQuestion::findDirectory() {
  std::optional<HostError> failure;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    struct stat status {};
    if (fstatat(AT_FDCWD, paths_[i].c_str(), &status, AT_NO_AUTOMOUNT) != 0) {
      if (!failure) failure.emplace(errno, "stat " + paths_[i]);
    } else if (S_ISDIR(status.st_mode)) {
      if (!failure) found_ = i;
      return i;
    }
  }
  if (failure) throw HostError(*failure);
  return std::nullopt;
}

}  // namespace hostwire
