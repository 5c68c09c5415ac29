// The mount table of Linux.
#include "linux/mounts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "host/error.h"

namespace hostwire {

MountTable::MountTable(const Roots& roots) : roots_(roots), prefix_(roots.files) {}

// A container that was given the host's /proc sees the host's mounts as process 1 there does, and reaches them
// through that process's root.
void MountTable::openFirst() {
  const bool isOwn = roots_.proc == "/proc";
  for (const char* process : {"/1", "/self"}) {
    if (isOwn && process == std::string_view("/1")) continue;
    path_ = roots_.proc + process + "/mountinfo";
    fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_.isOpen()) continue;
    struct statfs filesystem {};
    isKernelText_ = fstatfs(fd_.get(), &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
    if (!isOwn && isKernelText_ && roots_.files.empty()) prefix_ = roots_.proc + process + "/root";
    mustRead_ = true;
    return;
  }
  throw HostError(errno, "open " + path_);
}

// proc_pid_mountinfo(5): after a change poll(2) reports POLLPRI and POLLERR, once. A fixture is a regular file.
bool MountTable::hasChanged() {
  if (isKernelText_) {
    pollfd request{fd_.get(), POLLPRI, 0};
    return poll(&request, 1, 0) > 0;
  }
  struct stat now {};
  if (stat(path_.c_str(), &now) != 0) return false;
  const bool isSame = now.st_size == fixtureSize_ && now.st_mtim.tv_sec == fixtureChangedAt_.tv_sec &&
                      now.st_mtim.tv_nsec == fixtureChangedAt_.tv_nsec;
  fixtureSize_ = now.st_size;
  fixtureChangedAt_ = now.st_mtim;
  if (!isSame) fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  return !isSame;
}

bool MountTable::readIfChanged(std::string& text) {
  if (!fd_.isOpen()) openFirst();
  mustRead_ = hasChanged() || mustRead_;
  if (!mustRead_) return false;
  const ssize_t length = readWhole(fd_.get(), buffer_);
  if (length < 0) {
    const int code = errno;
    fd_.reset();
    throw HostError(code, "read " + path_);
  }
  text.assign(buffer_, 0, static_cast<std::size_t>(length));
  mustRead_ = false;
  return true;
}

}  // namespace hostwire
