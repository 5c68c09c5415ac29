// The files of one process under /proc, read in one go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/process.h"
#include "linux/kernel/file.h"

namespace hostwire {

// The folder of a /proc, for openat(2). Throws HostError.
FileDescriptor openProcFolder(const std::string& proc);

// The path of one of a process's files, for openat(2) in that folder, without an allocation.
class ProcessPath {
 public:
  // `file`: "/stat"; "" is the process's own folder.
  ProcessPath(std::int32_t pid, std::string_view file);
  const char* get() const { return static_cast<const char*>(text_); }

 private:
  char text_[32];
};

// As much as one read gives of a file, inside `buffer`. Nothing where the process has ended or hides the
// file; throws HostError where this process is at its own limits, so that nobody takes that for the former.
std::optional<std::string_view> readProcessFile(int procFolder, std::int32_t pid, std::string_view file,
                                                std::span<char> buffer);

// The counters but for owner and full name: the name is as the kernel has it, up to 15 bytes that need not be
// UTF-8. As readProcessFile.
std::optional<ProcessCounters> readProcessStat(int procFolder, std::int32_t pid);

// Whose rights it has. The folder's owner always says so; that of the files in it is root for a process that
// must not be looked into (proc(5), task_dump_owner() of fs/proc/base.c).
std::optional<std::uint32_t> readProcessOwner(int procFolder, std::int32_t pid);

// Where a link ("/exe", "/cwd") leads, as valid UTF-8.
std::optional<std::string> readProcessLink(int procFolder, std::int32_t pid, std::string_view link);

}  // namespace hostwire
