// Uses clone(2) with CLONE_VM and CLONE_VFORK, as posix_spawn(3) does, which has no attribute for limits.
// Setting them from outside, with prlimit(2), would race with the program, which may read them first.
#include "linux/process/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>

#include "host/error.h"
#include "linux/sockets/tcp.h"

namespace hostwire {
namespace {

// Soft limit of open files for programs. Node raises its own to the hard one when it starts and the old value
// is lost. The limit of the parent process is no better: systemd raises its own. So programs get the value
// that systemd and most login sessions give, and that programs with select(2) require; one that needs more
// can raise it, as Node did.
constexpr rlim_t kSoftOpenFiles = 1024;
constexpr std::size_t kStackBytes = 32U << 10U;
constexpr int kSpawnFailed = 127;

struct Child {
  const SpawnPlan& plan;
  const int descriptorsEnd;  // 0: the kernel closes all of them
  rlimit openFiles{};
  sigset_t noSignals{};
  int error = 0;
  const char* operation = "";
};

int failAt(Child& child, const char* operation) {
  child.error = errno;
  child.operation = operation;
  return kSpawnFailed;
}

// Closes all descriptors, so that one can be opened even if this process has reached its limit.
bool closeAll(int end) {
  for (int fd = 0; fd < end; ++fd) close(fd);
  return end > 0 || syscall(__NR_close_range, 0U, ~0U, 0U) == 0;
}

// The child, on memory that it shares with this process: only system calls, without an allocation or a lock.
// Its caller sleeps until the child has become the program or has ended.
int becomeProgram(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  setsid();
  // Only ignored signals would stay so: Node ignores SIGPIPE and SIGXFSZ. Handlers end with this program.
  for (int number = 1; number < NSIG; ++number) static_cast<void>(signal(number, SIG_DFL));
  if (!closeAll(child.descriptorsEnd)) return failAt(child, "close_range");
  if (open("/dev/null", O_RDONLY) != STDIN_FILENO || open("/dev/null", O_WRONLY) != STDOUT_FILENO ||
      dup(STDOUT_FILENO) != STDERR_FILENO)
    return failAt(child, "open /dev/null");
  if (child.plan.folder != nullptr && chdir(child.plan.folder) != 0) return failAt(child, "chdir");
  // If a filter of system calls forbids it, Node could not raise the limit either.
  if (child.openFiles.rlim_cur > 0) static_cast<void>(setrlimit(RLIMIT_NOFILE, &child.openFiles));
  sigprocmask(SIG_SETMASK, &child.noSignals, nullptr);
  execve(child.plan.program, child.plan.arguments, child.plan.environment);
  return failAt(child, "execve");
}

// close_range(2) exists since Linux 5.9; glibc 2.31 does not name it. Throws HostError.
int findDescriptorsEnd() { return syscall(__NR_close_range, ~0U, ~0U, 0U) == 0 ? 0 : descriptorsEnd(); }

}  // namespace

pid_t spawnProgram(const SpawnPlan& plan) {
  Child child{plan, findDescriptorsEnd()};
  sigemptyset(&child.noSignals);
  if (getrlimit(RLIMIT_NOFILE, &child.openFiles) == 0)
    child.openFiles.rlim_cur = std::min(child.openFiles.rlim_cur, kSoftOpenFiles);
  alignas(std::max_align_t) std::array<std::byte, kStackBytes> stack;
  // No handler of this process may run in the child.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  constexpr int kFlags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  const pid_t pid = clone(becomeProgram, stack.data() + stack.size(), kFlags, &child);
  const int error = pid < 0 ? errno : child.error;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw HostError(error, "clone");
  if (error == 0) return pid;
  waitForChild(pid);
  throw HostError(error, child.operation);
}

void waitForChild(pid_t pid) noexcept {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace hostwire
