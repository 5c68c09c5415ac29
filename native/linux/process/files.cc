// openat(2), read(2), close(2) on /proc/PID/*.
#include "linux/process/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <utility>

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

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

using StatBuffer = std::array<char, kStatBytes>;

// `file`: "/stat", or a thread's. The name is inside `buffer`.
std::optional<ProcessStat> readStat(int procFolder, std::int32_t pid, std::string_view file,
                                    StatBuffer& buffer) {
  const auto text = readProcessFile(procFolder, pid, file, buffer);
  return text ? parseProcessStat(*text) : std::nullopt;
}

// Returns whether the first thread has called pthread_exit(3). It stays a zombie until the last thread ends,
// and with it the process.
bool hasLostFirstThread(const ProcessStat& stat) { return stat.state == 'Z' && stat.threads > 1; }

struct LivingThread {
  std::string folder;  // "/task/TID"
  char state = '?';
  std::uint64_t residentPages = 0;
};

std::optional<LivingThread> findLivingThread(int procFolder, std::int32_t pid) {
  const int fd = openat(procFolder, ProcessPath(pid, "/task").get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> folder(fd < 0 ? nullptr : fdopendir(fd));
  if (!folder) {
    const int code = errno;
    if (fd >= 0) close(fd);
    if (isOwnLimit(code)) throw HostError(code, "list the threads of a process");
    return std::nullopt;
  }
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name.starts_with('.')) continue;
    std::string path = "/task/" + std::string(name);
    StatBuffer buffer;
    const auto stat = readStat(procFolder, pid, path + "/stat", buffer);
    if (stat && stat->state != 'Z' && stat->state != 'X')
      return LivingThread{std::move(path), stat->state, stat->residentPages};
  }
  return std::nullopt;
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
  StatBuffer buffer;  // not cleared: read() fills the used part
  const auto stat = readStat(procFolder, pid, "/stat", buffer);
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
  if (!hasLostFirstThread(*stat)) return counters;
  if (const auto living = findLivingThread(procFolder, pid)) {
    counters.state = living->state;
    counters.residentBytes = living->residentPages * pageBytes();
  }
  return counters;
}

std::string findLivingFolder(int procFolder, std::int32_t pid) {
  StatBuffer buffer;
  const auto stat = readStat(procFolder, pid, "/stat", buffer);
  if (!stat || !hasLostFirstThread(*stat)) return {};
  const auto living = findLivingThread(procFolder, pid);
  return living ? living->folder : std::string{};
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
