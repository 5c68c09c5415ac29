// Signals to processes and waiting for their end through pidfds: pidfd_open(2), pidfd_send_signal(2),
// poll(2).
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>

#include "host/error.h"
#include "host/process.h"
#include "linux/kernel/file.h"
#include "linux/process/files.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kProc = "/proc";

int numberOf(EndSignal signal) {
  switch (signal) {
    case EndSignal::kTerminate: return SIGTERM;
    case EndSignal::kKill: return SIGKILL;
    case EndSignal::kStop: return SIGSTOP;
    case EndSignal::kContinue: return SIGCONT;
  }
  return 0;
}

// Returns a descriptor of exactly this process; not open when it has ended. Uses raw system calls, because
// glibc before 2.36 has no wrappers. A descriptor always refers to the same process, so comparing the start
// time after opening it excludes another process with the same number.
FileDescriptor openProcess(int procFolder, const ProcessId& process) {
  FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd.isOpen()) {
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT) return {};
    throw HostError(errno, "pidfd_open");
  }
  const auto counters = readProcessStat(procFolder, process.pid);
  // A process that has lost its first thread, or all of them this moment, is judged by its descriptor.
  const bool isRunning =
      counters && (counters->threads > 1 || (counters->state != 'Z' && counters->state != 'X'));
  if (!isRunning || counters->id.startTicks != process.startTicks) return {};
  return pidfd;
}

milliseconds timeUntil(Clock::time_point deadline) {
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline - Clock::now()));
}

}  // namespace

// In a container, or started with unshare(1), /proc may show other processes than those that can be reached.
std::optional<Obstacle> whyNoProcessControl(const Roots& roots) {
  if (!roots.isDefault())
    return Obstacle{"processes are seen through another root than /proc",
                    "leave host.proc and host.sys at /proc and /sys"};
  std::array<char, 32> target{};
  const ssize_t length = readlink("/proc/self", target.data(), target.size());
  const std::string_view self(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  if (self != std::to_string(getpid()))
    return Obstacle{"/proc shows other processes than this service can reach",
                    "give the container the host's processes (--pid host)"};
  const FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!pidfd.isOpen()) return Obstacle{"the kernel is older than 5.3", ""};
  return std::nullopt;
}

SignalOutcome signalProcess(const ProcessId& process, EndSignal signal) {
  const FileDescriptor folder = openProcFolder(kProc);
  const FileDescriptor pidfd = openProcess(folder.get(), process);
  if (!pidfd.isOpen()) return SignalOutcome::kGone;
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), numberOf(signal), nullptr, 0) == 0)
    return SignalOutcome::kSent;
  if (errno == ESRCH) return SignalOutcome::kGone;
  if (errno == EPERM) return SignalOutcome::kDenied;
  throw HostError(errno, "pidfd_send_signal");
}

// A pidfd becomes readable when its process ends, even before its parent has waited for it.
std::vector<bool> waitForEnd(std::span<const ProcessId> processes, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const FileDescriptor folder = openProcFolder(kProc);
  std::vector<FileDescriptor> open;
  std::vector<pollfd> waits;
  for (const ProcessId& process : processes) {
    open.push_back(openProcess(folder.get(), process));
    // poll(2) ignores negative ones.
    waits.push_back({open.back().get(), POLLIN, 0});
  }
  const auto isAwaited = [](const pollfd& wait) { return wait.fd >= 0; };
  while (std::any_of(waits.begin(), waits.end(), isAwaited)) {
    const auto left = timeUntil(deadline);
    const int ready = poll(waits.data(), waits.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) throw HostError(errno, "poll");
    for (pollfd& wait : waits)
      if (ready > 0 && wait.revents != 0) wait.fd = -1;
    if (left == milliseconds{0}) break;
  }
  std::vector<bool> hasEnded;
  hasEnded.reserve(waits.size());
  for (const pollfd& wait : waits) hasEnded.push_back(!isAwaited(wait));
  return hasEnded;
}

}  // namespace hostwire
