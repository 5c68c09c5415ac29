// Reads a file that another program has named: openat2(2), proc_pid_fd(5).
#include "linux/media/art_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>

#include "host/error.h"
#include "linux/kernel/file.h"

namespace hostwire {
namespace {

// Finds the file without opening it: from here on no rename and no link can replace it.
FileDescriptor findFile(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  // The kernel's name of the number: glibc 2.31 does not define one.
  const long fd = syscall(__NR_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  const int code = errno;
  if (fd < 0)
    throw HostError(code, code == ENOSYS ? "find the file, which needs Linux 5.6" : "find the file");
  return FileDescriptor(static_cast<int>(fd));
}

std::size_t sizeOf(const FileDescriptor& file, std::size_t maxBytes) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0) throw HostError(errno, "examine the file");
  if (!S_ISREG(about.st_mode)) throw std::runtime_error("it is not a regular file");
  // Files of /proc are among them.
  if (about.st_size <= 0) throw std::runtime_error("the file is empty");
  if (static_cast<std::uintmax_t>(about.st_size) > maxBytes)
    throw std::runtime_error("the file has more than " + std::to_string(maxBytes) + " bytes");
  return static_cast<std::size_t>(about.st_size);
}

// The kernel checks the rights here: finding a file needs no rights on the file itself.
FileDescriptor openFound(const FileDescriptor& file) {
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  FileDescriptor opened(open(link.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!opened.isOpen()) throw HostError(errno, "open the file");
  return opened;
}

}  // namespace

std::string readFileAs(const UserRights& user, const std::string& path, std::size_t maxBytes) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    throw std::runtime_error("it is not a path");
  const UserThread asUser(user);
  const FileDescriptor found = findFile(path);
  std::string content(sizeOf(found, maxBytes), '\0');
  const FileDescriptor file = openFound(found);
  std::size_t length = 0;
  while (length < content.size()) {
    const ssize_t got = read(file.get(), content.data() + length, content.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw HostError(errno, "read the file");
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  content.resize(length);
  return content;
}

}  // namespace hostwire
