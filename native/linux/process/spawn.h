// Starts a program with its own limits.
#pragma once

#include <sys/types.h>

namespace hostwire {

// The texts and lists outlive the call; both lists end with a null pointer.
struct SpawnPlan {
  const char* program = nullptr;  // an absolute path
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;  // null: the service's own
};

// The program leads a session of its own. It has /dev/null as its three standard files and no other open, no
// signal blocked or ignored, this process's umask, and a soft limit of open files of at most 1024. Returns
// its number; the caller waits for its end. Throws HostError, and then there is no child to wait for.
pid_t spawnProgram(const SpawnPlan& plan);

// Returns when that child has ended, and removes it from the kernel's table of processes.
void waitForChild(pid_t pid) noexcept;

}  // namespace hostwire
