// Parsers of Linux's texts about processes.
#include "linux/process/parse_process.h"

#include <algorithm>
#include <limits>

#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of <linux/sched.h>
constexpr std::size_t kMaxCommBytes = 15;            // TASK_COMM_LEN minus its NUL
constexpr std::string_view kDeleted = " (deleted)";  // d_path(), of a program that was replaced
constexpr std::string_view kWordEnds{" \t\n\0", 4};
// In titles that programs give themselves, "celeryd:worker:pw=x"; rare in names of files.
constexpr std::string_view kTitleMarks = ":=@";

void skipWords(std::string_view& text, int count) {
  for (int i = 0; i < count; ++i) takeWord(text);
}

template <class Number>
Number clampTo(std::uint64_t value) {
  return static_cast<Number>(std::min<std::uint64_t>(value, std::numeric_limits<Number>::max()));
}

std::string_view lastPathPart(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Removes the part before the next `separator` from `text`, and the separator.
std::string_view takeUntil(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

// The name is in parentheses and may contain any byte, including blanks, parentheses and newlines: it ends at
// the last closing one.
std::optional<ProcessStat> parseProcessStat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessStat stat;
  stat.comm = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  const std::string_view state = takeWord(text);
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  stat.parentPid = clampTo<std::int32_t>(takeUnsigned(text).value_or(0));
  skipWords(text, 4);  // process group, session, terminal and its process group, which may be negative
  stat.isKernelThread = (takeUnsigned(text).value_or(0) & kKernelThread) != 0;
  skipWords(text, 4);  // page faults
  const std::uint64_t inUserMode = takeUnsigned(text).value_or(0);
  const std::uint64_t inKernel = takeUnsigned(text).value_or(0);
  stat.cpuTicks = inUserMode + inKernel;
  skipWords(text, 4);  // children's faults and priorities, which may be negative
  stat.threads = clampTo<std::uint32_t>(takeUnsigned(text).value_or(0));
  skipWords(text, 1);
  const auto start = takeUnsigned(text);
  if (!start) return std::nullopt;
  stat.startTicks = *start;
  skipWords(text, 1);
  stat.residentPages = takeUnsigned(text).value_or(0);
  return stat;
}

std::optional<ProcessDisk> parseProcessIo(std::string_view text) {
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> written;
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view key = takeUntil(line, ':');
    if (key == "read_bytes") read = takeUnsigned(line);
    if (key == "write_bytes") written = takeUnsigned(line);
  }
  if (!read || !written) return std::nullopt;
  return ProcessDisk{*read, *written};
}

std::vector<std::string> parseCmdline(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) words.emplace_back(takeUntil(text, '\0'));
  // Overwritten parts are padded with NULs.
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words;
}

std::string_view fullProcessName(std::string_view comm, std::string_view program, std::string_view cmdline) {
  if (comm.size() != kMaxCommBytes) return comm;
  if (program.ends_with(kDeleted)) program.remove_suffix(kDeleted.size());
  const std::string_view file = lastPathPart(program);
  if (file.starts_with(comm)) return file;
  const std::string_view word = lastPathPart(cmdline.substr(0, cmdline.find_first_of(kWordEnds)));
  const bool isTitle = word.find_first_of(kTitleMarks) != std::string_view::npos;
  return word.starts_with(comm) && !isTitle ? word : comm;
}

std::vector<PasswdEntry> parsePasswd(std::string_view text) {
  std::vector<PasswdEntry> entries;
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view name = takeUntil(line, ':');
    takeUntil(line, ':');
    const auto userId = takeUnsigned(line);
    if (name.empty() || !userId || *userId > std::numeric_limits<std::uint32_t>::max()) continue;
    entries.push_back({static_cast<std::uint32_t>(*userId), name});
  }
  return entries;
}

}  // namespace hostwire
