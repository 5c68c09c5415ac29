// openat(2), read(2) on /proc/PID/io, by threads that may hang.
#include "linux/process/disk_io.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <span>
#include <utility>

#include "host/ask_within.h"
#include "linux/process/files.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

// Seven lines of a name and a number of up to 20 digits.
constexpr std::size_t kIoBytes = 512;

struct PassAnswer {
  std::vector<std::optional<ProcessDisk>> disks;  // in the order of the asked processes
  std::int64_t spentNs = 0;
};

// Marks a pass as one that may hang while it runs.
class Running {
 public:
  explicit Running(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

std::int64_t readThreadCpuNs() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<std::int64_t>(spent.tv_sec) * 1'000'000'000 + spent.tv_nsec;
}

struct DiskIo::Pass {
  const std::vector<ProcessId> asked;
  std::atomic<std::size_t> at{0};
  std::atomic<bool> isRunning{false};
  std::atomic<bool> isAbandoned{false};

  explicit Pass(std::vector<ProcessId> givenAsked) : asked(std::move(givenAsked)) {}

  // Throws HostError.
  PassAnswer run(const std::string& proc) {
    const std::int64_t spentBefore = readThreadCpuNs();
    PassAnswer answer;
    answer.disks.reserve(asked.size());
    const FileDescriptor folder = openProcFolder(proc);
    std::array<char, kIoBytes> buffer;
    for (const ProcessId& process : asked) {
      if (isAbandoned) break;
      at = answer.disks.size();
      const auto text = readProcessFile(folder.get(), process.pid, "/io", buffer);
      answer.disks.push_back(text ? parseProcessIo(*text) : std::nullopt);
    }
    answer.spentNs = readThreadCpuNs() - spentBefore;
    return answer;
  }
};

DiskIo::DiskIo(std::string proc) : proc_(std::move(proc)) {}

bool DiskIo::isStuckAt(const ProcessId& process) const {
  return std::any_of(passes_.begin(), passes_.end(), [&](const auto& pass) {
    if (pass == nullptr || !pass->isRunning) return false;
    const std::size_t at = pass->at;
    return at < pass->asked.size() && pass->asked[at] == process;
  });
}

// Also forgets processes in `hidden_` that have ended.
std::vector<ProcessId> DiskIo::chooseAsked(const std::vector<ProcessCounters>& processes) {
  std::vector<ProcessId> asked;
  std::vector<ProcessId> hidden;
  auto known = hidden_.begin();
  for (const ProcessCounters& process : processes) {
    while (known != hidden_.end() && known->pid < process.id.pid) ++known;
    if (known != hidden_.end() && *known == process.id)
      hidden.push_back(process.id);
    else if (!isStuckAt(process.id))
      asked.push_back(process.id);
  }
  hidden_ = std::move(hidden);
  return asked;
}

std::optional<std::int64_t> DiskIo::complete(std::vector<ProcessCounters>& processes,
                                             std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(passes_.begin(), passes_.end(),
                                  [](const auto& pass) { return pass == nullptr || !pass->isRunning; });
  if (place == passes_.end()) return std::nullopt;
  const auto pass = std::make_shared<Pass>(chooseAsked(processes));
  *place = pass;
  const auto answer = askWithin<PassAnswer>(patience, [pass, proc = proc_] {
    const Running running(pass->isRunning);
    return pass->run(proc);
  });
  if (!answer) {
    pass->isAbandoned = true;
    return std::nullopt;
  }
  auto process = processes.begin();
  for (std::size_t i = 0; i < answer->disks.size(); ++i) {
    const ProcessId& id = pass->asked[i];
    while (process->id.pid != id.pid) ++process;
    process->disk = answer->disks[i];
    if (!process->disk) hidden_.push_back(id);
  }
  std::sort(hidden_.begin(), hidden_.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return answer->spentNs;
}

}  // namespace hostwire
