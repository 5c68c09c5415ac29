// Parsers of Linux's texts about processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/process.h"

namespace hostwire {

struct ProcessStat {
  std::string_view comm;  // as in the kernel, any bytes; inside the parsed text
  char state = '?';
  std::int32_t parentPid = 0;
  bool isKernelThread = false;
  std::uint64_t cpuTicks = 0;  // in user mode and in the kernel
  std::uint32_t threads = 0;
  std::uint64_t startTicks = 0;  // since boot
  std::uint64_t residentPages = 0;
};

// Parses proc_pid_stat(5). Nothing if the line ends before the start time, which identifies the process.
std::optional<ProcessStat> parseProcessStat(std::string_view text);

// Parses proc_pid_io(5): transfers of block devices caused by the process; reads from the page cache do not
// count. Nothing if one of the two lines is missing.
std::optional<ProcessDisk> parseProcessIo(std::string_view text);

// Parses the arguments that proc_pid_cmdline(5) separates by NULs. Arguments that a program has overwritten
// are taken as they are.
std::vector<std::string> parseCmdline(std::string_view text);

// The kernel cuts names at 15 bytes. If `comm` has that length, returns the longer name that begins with it:
// the file's name of `program`, the target of /proc/PID/exe (empty where it is hidden), otherwise that of the
// first word of the arguments. Never more of them: a program that sets its title, as "npm exec deploy
// --token=…", sets `comm` to its start and leaves all of it as one string. Otherwise `comm`.
std::string_view fullProcessName(std::string_view comm, std::string_view program, std::string_view cmdline);

struct PasswdEntry {
  std::uint32_t userId = 0;
  std::string_view name;  // inside the parsed text
};

// Parses passwd(5), without lines that lack a name or a number.
std::vector<PasswdEntry> parsePasswd(std::string_view text);

}  // namespace hostwire
