// The mount table of Linux.
#include "linux/disks/mounts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>

#include "host/error.h"
#include "linux/disks/select_mounts.h"

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

FileDescriptor duplicate(int descriptor) {
  FileDescriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!copy.isOpen()) throw HostError(errno, "duplicate the mount table's descriptor");
  return copy;
}

}  // namespace

MountWatch::MountWatch(int own, int first) : own_(duplicate(own)) {
  if (first >= 0) first_ = duplicate(first);
}

// proc_pid_mountinfo(5): after a change poll(2) reports POLLPRI and POLLERR, once.
bool MountWatch::takeChange() const {
  std::array<pollfd, 2> requests{
      pollfd{own_.get(), POLLPRI, 0}, pollfd{first_.get(), POLLPRI, 0},  // poll ignores -1
  };
  return poll(requests.data(), requests.size(), 0) > 0;
}

MountTable::MountTable(const Roots& roots) : roots_(roots), prefix_(roots.files) {}

// A container that was given the host's /proc sees the host's mounts as the first process there does, and
// reaches them through that process's root.
void MountTable::openFirst() {
  const std::string own = roots_.proc + "/self/mountinfo";
  const std::string first = roots_.proc + "/1/mountinfo";
  const bool isForeign = roots_.proc != "/proc";
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
  if (!isForeign) first_.emplace(first);
}

bool MountTable::hasFixtureChanged() const {
  if (isKernelText_ || !file_) return false;
  struct stat now {};
  return stat(file_->path().c_str(), &now) == 0 && !isSameVersion(now, fixture_);
}

// A unit with ProtectSystem= or similar options has a copy of the mount table, made when it starts, in which
// mounts may be read-only. New mounts and unmounts arrive in it; a remount does not (mount(2) changes one
// mount's flags, mount_namespaces(7) propagates none of them). So the read-only flags are those of the first
// process, whose table is not read any more once the two were found to be the same.
void MountTable::correct(std::string_view ownText, std::vector<Mount>& own) {
  if (!first_) return;
  const std::string_view text = first_->readIfPresent(firstBuffer_);
  // Mount ids are unique in the whole kernel: equal texts are the same table.
  if (text == ownText) {
    first_.reset();
    firstBuffer_ = {};
  } else {
    adoptReadOnly(own, parseMountinfo(text));
  }
}

std::vector<Mount> MountTable::read() {
  if (!file_) openFirst();
  if (!isKernelText_) {
    file_.emplace(std::string(file_->path()));  // the name may now lead to another file
    if (stat(file_->path().c_str(), &fixture_) != 0) fixture_ = {};
  }
  const std::string_view text = file_->read(buffer_);
  auto mounts = parseMountinfo(text);
  correct(text, mounts);
  if (isKernelText_ && !watch_)
    watch_ = std::make_shared<const MountWatch>(file_->descriptor(), first_ ? first_->descriptor() : -1);
  return mounts;
}

}  // namespace hostwire
