// The mount table of Linux.
#include "linux/disks/mounts.h"

#include <linux/magic.h>
#include <poll.h>
#include <sys/vfs.h>

#include <array>

#include "host/error.h"

namespace hostwire {
namespace {

bool isOfProc(const std::string& path) {
  struct statfs filesystem {};
  return statfs(path.c_str(), &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
}

bool isSameVersion(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

MountTable::MountTable(const Roots& roots) : roots_(roots), prefix_(roots.files) {}

// A container that was given the host's /proc sees the host's mounts as the first process there does, and
// reaches them through that process's root.
void MountTable::openFirst() {
  const std::string own = roots_.proc + "/self/mountinfo";
  const std::string first = roots_.proc + "/1/mountinfo";
  const bool isForeign = roots_.proc != "/proc";
  mustRead_ = true;
  if (isForeign) {
    file_.emplace(first);
    if (!file_->readIfPresent(buffer_).empty()) {
      isKernelText_ = isOfProc(first);
      if (isKernelText_ && roots_.files.empty()) prefix_ = roots_.proc + "/1/root";
      return;
    }
  }
  file_.emplace(own);
  isKernelText_ = isOfProc(own);
  if (!isForeign) first_.emplace();
}

// proc_pid_mountinfo(5): after a change poll(2) reports POLLPRI and POLLERR, once.
bool MountTable::hasChanged() {
  if (isKernelText_) {
    std::array<pollfd, 2> requests{
        pollfd{file_->descriptor(), POLLPRI, 0},
        pollfd{first_ ? first_->descriptor() : -1, POLLPRI, 0},  // poll ignores -1
    };
    return poll(requests.data(), requests.size(), 0) > 0;
  }
  struct stat now {};
  if (stat(file_->path().c_str(), &now) != 0 || isSameVersion(now, fixtureBefore_)) return false;
  fixtureBefore_ = now;
  file_.emplace(std::string(file_->path()));
  return true;
}

std::optional<std::vector<Mount>> MountTable::readIfChanged() {
  if (!file_) openFirst();
  mustRead_ = hasChanged() || mustRead_;
  if (!mustRead_) return std::nullopt;
  const std::string_view text = file_->read(buffer_);
  auto mounts = parseMountinfo(text);
  if (first_) first_->correct(text, mounts);
  mustRead_ = false;
  return mounts;
}

}  // namespace hostwire
