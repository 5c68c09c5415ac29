// Files of one process under /proc, each read in one call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/process.h"
#include "linux/kernel/file.h"

namespace hostwire {

// Opens the folder of a /proc, for openat(2). Throws HostError.
FileDescriptor openProcFolder(const std::string& proc);

// The path of a file of one process, for openat(2) in that folder, without an allocation.
class ProcessPath {
 public:
  // `file`: "/stat"; "" is the process's own folder.
  ProcessPath(std::int32_t pid, std::string_view file);
  const char* get() const { return static_cast<const char*>(text_); }

 private:
  char text_[48];  // the longest: 2147483647/task/2147483647/cmdline
};

// Returns as much of a file as one read does, inside `buffer`. Nothing if the process has ended or hides the
// file; throws HostError if this process has reached its own limits, so that the two are not confused.
std::optional<std::string_view> readProcessFile(int procFolder, std::int32_t pid, std::string_view file,
                                                std::span<char> buffer);

// Returns the counters except owner and full name: the name is the kernel's, up to 15 bytes that need not be
// UTF-8. If the first thread has exited and others run, state and memory are those of the first that runs.
// Fails like readProcessFile.
std::optional<ProcessCounters> readProcessStat(int procFolder, std::int32_t pid);

// Returns where the kernel shows the memory, program, arguments and open files of a process: "", its own
// folder, or "/task/TID" if its first thread has exited and others run. The first thread, which the process's
// own folder shows, has given these up. Fails like readProcessFile.
std::string findLivingFolder(int procFolder, std::int32_t pid);

// Returns the effective user. The folder's owner always shows it; the files in it belong to root for a
// process that must not be inspected (proc(5), task_dump_owner() of fs/proc/base.c).
std::optional<std::uint32_t> readProcessOwner(int procFolder, std::int32_t pid);

// Returns the target of a link ("/exe", "/task/7/cwd"), as valid UTF-8.
std::optional<std::string> readProcessLink(int procFolder, std::int32_t pid, std::string_view link);

}  // namespace hostwire
