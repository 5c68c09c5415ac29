// openat(2), read(2), close(2) on /proc/PID/*.
#include "linux/process/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>

#include "host/error.h"
#include "linux/kernel/text.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

// 52 numbers of up to 20 digits and a name.
constexpr std::size_t kStatBytes = 2048;

bool isOwnLimit(int code) { return code == EMFILE || code == ENFILE || code == ENOMEM; }

std::uint64_t pageBytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

FileDescriptor openProcFolder(const std::string& proc) {
  FileDescriptor folder(open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.isOpen()) throw HostError(errno, "open " + proc);
  return folder;
}

ProcessPath::ProcessPath(std::int32_t pid, std::string_view file) {
  char* const end = static_cast<char*>(text_) + sizeof text_ - 1;
  char* at = std::to_chars(static_cast<char*>(text_), end, pid).ptr;
  const std::size_t length = std::min(file.size(), static_cast<std::size_t>(end - at));
  at = std::copy_n(file.begin(), length, at);
  *at = '\0';
}

std::optional<std::string_view> readProcessFile(int procFolder, std::int32_t pid, std::string_view file,
                                                std::span<char> buffer) {
  const ProcessPath path(pid, file);
  const FileDescriptor fd(openat(procFolder, path.get(), O_RDONLY | O_CLOEXEC));
  if (!fd.isOpen()) {
    if (isOwnLimit(errno)) throw HostError(errno, std::string("open ") + path.get());
    return std::nullopt;
  }
  ssize_t length = 0;
  do length = read(fd.get(), buffer.data(), buffer.size());
  while (length < 0 && errno == EINTR);
  if (length < 0) {
    if (isOwnLimit(errno)) throw HostError(errno, std::string("read ") + path.get());
    return std::nullopt;
  }
  return std::string_view(buffer.data(), static_cast<std::size_t>(length));
}

std::optional<ProcessCounters> readProcessStat(int procFolder, std::int32_t pid) {
  std::array<char, kStatBytes> buffer;  // not cleared: read() fills what is used
  const auto text = readProcessFile(procFolder, pid, "/stat", buffer);
  if (!text) return std::nullopt;
  const auto stat = parseProcessStat(*text);
  if (!stat) return std::nullopt;
  ProcessCounters counters;
  counters.id = {pid, stat->startTicks};
  counters.parentPid = stat->parentPid;
  counters.threads = stat->threads;
  counters.state = stat->state;
  counters.isKernelThread = stat->isKernelThread;
  counters.cpuTicks = stat->cpuTicks;
  counters.residentBytes = stat->residentPages * pageBytes();
  counters.name = std::string(stat->comm);
  return counters;
}

std::optional<std::uint32_t> readProcessOwner(int procFolder, std::int32_t pid) {
  struct stat status {};
  if (fstatat(procFolder, ProcessPath(pid, "").get(), &status, 0) != 0) return std::nullopt;
  return status.st_uid;
}

std::optional<std::string> readProcessLink(int procFolder, std::int32_t pid, std::string_view link) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(procFolder, ProcessPath(pid, link).get(), target.data(), target.size());
  if (length <= 0) return std::nullopt;
  return toValidUtf8({target.data(), static_cast<std::size_t>(length)});
}

}  // namespace hostwire
