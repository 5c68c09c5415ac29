// The processes of Linux: readings, details, paths.
#include "host/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "host/ask_within.h"
#include "host/prober.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/text.h"
#include "linux/process/files.h"
#include "linux/process/list.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

constexpr std::size_t kCommandBytes = 32U << 10U;
constexpr std::chrono::milliseconds kCommandPatience{300};

using Shared = std::shared_ptr<const ProcessReading>;

// Process 1 is in every pid namespace. `hidepid` (proc(5)) hides its folder or its files from all but root,
// the process's own user, and the group of `gid=`.
std::optional<Obstacle> whyOnlyOwn(const std::string& proc) {
  const std::string file = proc + "/1/stat";
  if (access(file.c_str(), R_OK) == 0) return std::nullopt;
  return Obstacle{proc + " shows only the processes of this user: it is mounted with hidepid",
                  "mount it without hidepid, or add this user to the group of its option gid=; in a unit of "
                  "systemd set ProtectProc=default"};
}

// Since Linux 6.2 the folder's size is the number of entries (proc_pid_fd(5)).
std::optional<std::uint32_t> countOpenFiles(int procFolder, std::int32_t pid, const std::string& file,
                                            const std::string& proc) {
  const ProcessPath path(pid, file);
  struct stat status {};
  if (fstatat(procFolder, path.get(), &status, 0) != 0) return std::nullopt;
  if (faccessat(procFolder, path.get(), R_OK, AT_EACCESS) != 0) return std::nullopt;
  if (status.st_size > 0) return static_cast<std::uint32_t>(status.st_size);
  return static_cast<std::uint32_t>(listFolder(proc + "/" + path.get()).size());
}

// May hang (see FullNames): then it returns an empty text, and its thread is abandoned.
std::string readCmdline(const std::string& proc, std::int32_t pid, const std::string& file) {
  return askWithin<std::string>(
             kCommandPatience,
             [proc, pid, file] {
               std::vector<char> buffer(kCommandBytes);
               const FileDescriptor folder = openProcFolder(proc);
               return std::string(readProcessFile(folder.get(), pid, file, buffer).value_or(""));
             })
      .value_or("");
}

bool isStill(int procFolder, const ProcessId& process) {
  const auto now = readProcessStat(procFolder, process.pid);
  return now && now->id.startTicks == process.startTicks;
}

}  // namespace

struct ProcessReader::State {
  explicit State(const Roots& givenRoots)
      : roots(givenRoots),
        names(std::make_shared<FullNames>(givenRoots.proc)),
        disks(std::make_shared<DiskIo>(givenRoots.proc)),
        prober(probers,
               [lister = std::make_shared<ProcessLister>(givenRoots, names, disks),
                wants = wantsDisks]() -> Shared {
                 return std::make_shared<const ProcessReading>(
                     lister->read({.hasDisks = wants->exchange(false)}));
               }) {}

  const Roots roots;
  // Separate: a list that takes 100 ms must not delay other answers.
  ProberPool probers;
  std::shared_ptr<FullNames> names;
  std::shared_ptr<DiskIo> disks;
  const std::shared_ptr<std::atomic<bool>> wantsDisks = std::make_shared<std::atomic<bool>>(false);
  Prober<Shared> prober;
};

ProcessReader::ProcessReader(const Roots& roots) : state_(std::make_shared<State>(roots)) {}
ProcessReader::~ProcessReader() = default;

Shared ProcessReader::latest() { return state_->prober.latest().value.value_or(nullptr); }

void ProcessReader::ask(std::chrono::milliseconds delay) {
  static_cast<void>(state_->prober.latest());  // marks it as wanted
  state_->probers.askAll(delay);
}

void ProcessReader::includeDisks() { state_->wantsDisks->store(true); }

ProcessReading ProcessReader::read(State& state, bool hasDisks) {
  return ProcessLister(state.roots, state.names, state.disks).read({.hasOwners = true, .hasDisks = hasDisks});
}

Findings ProcessReader::describe(State& state) {
  const std::string& proc = state.roots.proc;
  auto findings = describeOrExplain("processes", proc, [&]() -> Findings {
    const std::size_t count = read(state, false).processes.size();
    std::string source = countOf(count, "process", "processes") + " in " + proc;
    if (auto obstacle = whyOnlyOwn(proc); obstacle && count > 0)
      return {Finding::partly("processes", source, *obstacle)};
    return {Finding::works("processes", std::move(source))};
  });
  findings.push_back(Finding::possible("process-control", whyNoProcessControl(state.roots)));
  return findings;
}

// All is read from the same process: its start time is compared at the end.
std::optional<ProcessDetails> ProcessReader::readDetails(State& state, std::int32_t pid) {
  const FileDescriptor folder = openProcFolder(state.roots.proc);
  auto counters = readProcessStat(folder.get(), pid);
  if (!counters) return std::nullopt;
  ProcessDetails details;
  counters->userId = readProcessOwner(folder.get(), pid).value_or(0);
  const std::string living = findLivingFolder(folder.get(), pid);
  details.path = readProcessLink(folder.get(), pid, living + "/exe");
  details.folder = readProcessLink(folder.get(), pid, living + "/cwd");
  details.openFiles = countOpenFiles(folder.get(), pid, living + "/fd", state.roots.proc);
  const std::string cmdline = readCmdline(state.roots.proc, pid, living + "/cmdline");
  for (const std::string& word : parseCmdline(cmdline)) details.command.push_back(toValidUtf8(word));
  const std::string_view comm = counters->name;
  counters->name = toValidUtf8(
      counters->isKernelThread ? comm : fullProcessName(comm, details.path.value_or(""), cmdline));
  if (!isStill(folder.get(), counters->id)) return std::nullopt;
  details.counters = std::move(*counters);
  const auto owners = readOwners(state.roots, {details.counters});
  if (!owners.empty()) details.owner = owners.front().name;
  return details;
}

std::vector<std::optional<std::string>> ProcessReader::readPaths(State& state,
                                                                 std::span<const ProcessId> processes) {
  const FileDescriptor folder = openProcFolder(state.roots.proc);
  std::vector<std::optional<std::string>> paths;
  paths.reserve(processes.size());
  for (const ProcessId& process : processes) {
    auto path = readProcessLink(folder.get(), process.pid, "/exe");
    if (!path) {
      const std::string living = findLivingFolder(folder.get(), process.pid);
      if (!living.empty()) path = readProcessLink(folder.get(), process.pid, living + "/exe");
    }
    const bool isIts = path && isStill(folder.get(), process);
    paths.push_back(isIts ? std::move(path) : std::nullopt);
  }
  return paths;
}

}  // namespace hostwire
