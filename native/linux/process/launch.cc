// The one place where a process is started: posix_spawn(3); started processes are reaped here.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "host/error.h"
#include "host/process.h"
#include "host/thread.h"
#include "linux/kernel/file.h"
#include "linux/process/files.h"

namespace hostwire {
namespace {

void check(int code, const char* operation) {
  if (code != 0) throw HostError(code, operation);
}

class SpawnAttributes {
 public:
  SpawnAttributes() { check(posix_spawnattr_init(&value_), "posix_spawnattr_init"); }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  // A session of its own: no terminal, and no signal that is meant for the service. No blocked and no ignored
  // signals, as Node ignores SIGPIPE and SIGXFSZ.
  void isolate() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    check(posix_spawnattr_setsigmask(&value_, &none), "posix_spawnattr_setsigmask");
    check(posix_spawnattr_setsigdefault(&value_, &all), "posix_spawnattr_setsigdefault");
    constexpr int kFlags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    check(posix_spawnattr_setflags(&value_, static_cast<short>(kFlags)), "posix_spawnattr_setflags");
  }
  const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

class SpawnActions {
 public:
  SpawnActions() { check(posix_spawn_file_actions_init(&value_), "posix_spawn_file_actions_init"); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&value_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  // Nothing of the service's stays open in it: addclosefrom is in glibc since 2.34.
  void closeEverything() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      const int mode = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      check(posix_spawn_file_actions_addopen(&value_, fd, "/dev/null", mode, 0), "open /dev/null");
    }
    check(posix_spawn_file_actions_addclosefrom_np(&value_, STDERR_FILENO + 1), "closefrom");
  }
  void enter(const std::string& folder) {
    check(posix_spawn_file_actions_addchdir_np(&value_, folder.c_str()), "chdir");
  }
  const posix_spawn_file_actions_t* get() const { return &value_; }

 private:
  posix_spawn_file_actions_t value_{};
};

// An ended process stays a zombie until its parent waits for it: this thread does, sleeping in poll(2)
// meanwhile. It ends with the last child.
struct Reaper {
  std::mutex mutex;
  std::vector<FileDescriptor> arriving;
  FileDescriptor wake;
  bool isRunning = false;
};

void reapAll(const std::shared_ptr<Reaper>& reaper) {
  std::vector<FileDescriptor> children;
  std::vector<pollfd> waits;
  while (true) {
    {
      const std::lock_guard lock(reaper->mutex);
      for (FileDescriptor& child : reaper->arriving) children.push_back(std::move(child));
      reaper->arriving.clear();
      reaper->isRunning = !children.empty();
      if (!reaper->isRunning) return;
      waits.assign(1, {reaper->wake.get(), POLLIN, 0});
    }
    for (const FileDescriptor& child : children) waits.push_back({child.get(), POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    eventfd_t count = 0;
    if (waits.front().revents != 0) eventfd_read(waits.front().fd, &count);
    for (std::size_t i = waits.size() - 1; i >= 1; --i) {
      if (waits[i].revents == 0) continue;
      siginfo_t info{};
      waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(waits[i].fd), &info, WEXITED | WNOHANG);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
  }
}

void reapWhenEnded(FileDescriptor child) {
  static const auto reaper = std::make_shared<Reaper>();
  const std::lock_guard lock(reaper->mutex);
  if (!reaper->wake.isOpen()) reaper->wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  reaper->arriving.push_back(std::move(child));
  if (reaper->isRunning) {
    eventfd_write(reaper->wake.get(), 1);
  } else {
    reaper->isRunning = startThread([kept = reaper] { reapAll(kept); });
  }
}

std::string_view nameOf(std::string_view variable) { return variable.substr(0, variable.find('=')); }

std::vector<char*> pointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The service's own, except what `added` redefines.
std::vector<std::string> mergeEnvironment(const std::vector<std::string>& added) {
  std::vector<std::string> merged = added;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view own = *at;
    const auto isSame = [&](const std::string& other) { return nameOf(other) == nameOf(own); };
    if (std::none_of(added.begin(), added.end(), isSame)) merged.emplace_back(own);
  }
  return merged;
}

}  // namespace

ProcessId launchProcess(const LaunchOptions& options) {
  SpawnAttributes attributes;
  attributes.isolate();
  SpawnActions actions;
  actions.closeEverything();
  if (options.folder) actions.enter(*options.folder);
  std::vector<std::string> words = options.arguments;
  words.insert(words.begin(), options.program);
  std::vector<std::string> environment = mergeEnvironment(options.environment);
  pid_t pid = 0;
  check(posix_spawn(&pid, options.program.c_str(), actions.get(), attributes.get(), pointersTo(words).data(),
                    pointersTo(environment).data()),
        "posix_spawn");
  // Nobody else waits for it, so up to here its number is certainly its own.
  FileDescriptor child(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const auto counters = readProcessStat(openProcFolder("/proc").get(), pid);
  if (child.isOpen()) reapWhenEnded(std::move(child));
  return {pid, counters ? counters->id.startTicks : 0};
}

}  // namespace hostwire
