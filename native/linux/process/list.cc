// Reads getdents64(2) on /proc, then the files of each process: nothing here can hang.
#include "linux/process/list.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "host/error.h"
#include "linux/kernel/parse_proc.h"
#include "linux/kernel/text.h"
#include "linux/process/files.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

// Buffer in the kernel's format: 10,000 processes take 240 KB.
constexpr std::size_t kEntriesBytes = 256U << 10U;
// Offsets of the entry's length and name in struct linux_dirent64 (getdents64(2)).
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kNameAt = 19;
// Maximum time that a reading waits for new names.
constexpr std::chrono::milliseconds kNamePatience{100};
// Maximum time that it waits for disk counters: those of 10,000 processes take 80 ms.
constexpr std::chrono::milliseconds kDiskPatience{2000};

std::optional<std::int32_t> parsePid(std::string_view name) {
  std::int32_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size() || pid < 1) return std::nullopt;
  return pid;
}

void takePids(std::string_view entries, std::vector<std::int32_t>& pids) {
  while (entries.size() > kNameAt) {
    std::uint16_t length = 0;
    std::memcpy(&length, entries.data() + kLengthAt, sizeof length);
    if (length <= kNameAt || length > entries.size()) return;
    const std::string_view padded = entries.substr(kNameAt, length - kNameAt);
    if (const auto pid = parsePid(padded.substr(0, padded.find('\0')))) pids.push_back(*pid);
    entries.remove_prefix(length);
  }
}

}  // namespace

ProcessLister::ProcessLister(const Roots& roots, std::shared_ptr<FullNames> names,
                             std::shared_ptr<DiskIo> disks)
    : roots_(roots), names_(std::move(names)), disks_(std::move(disks)), stat_(roots.proc + "/stat") {}

// The descriptor stays open; its position in the folder is reset.
void ProcessLister::listPids() {
  if (!folder_.isOpen()) folder_ = openProcFolder(roots_.proc);
  if (buffer_.size() < kEntriesBytes) buffer_.resize(kEntriesBytes);
  pids_.clear();
  lseek(folder_.get(), 0, SEEK_SET);
  while (true) {
    const auto length = syscall(SYS_getdents64, folder_.get(), buffer_.data(), buffer_.size());
    if (length < 0) {
      const int code = errno;
      folder_.reset();
      throw HostError(code, "list " + roots_.proc);
    }
    if (length == 0) break;
    takePids({buffer_.data(), static_cast<std::size_t>(length)}, pids_);
  }
  // A real /proc lists them in order; a fixture's folder does not.
  if (!std::is_sorted(pids_.begin(), pids_.end())) std::sort(pids_.begin(), pids_.end());
}

std::optional<std::uint64_t> ProcessLister::readMachineTicks() {
  CpuTimes times;
  const std::string_view text = stat_.readHeadIfPresent(buffer_, 512);
  // The head may end within a line.
  if (!parseStat(text.substr(0, text.rfind('\n') + 1), times, nullptr)) return std::nullopt;
  return times.user + times.nice + times.system + times.idle + times.iowait + times.irq + times.steal;
}

ProcessReading ProcessLister::read(ReadingParts parts) {
  const std::int64_t spentBefore = readThreadCpuNs();
  ProcessReading reading;
  reading.ticksPerSecond = static_cast<std::uint32_t>(sysconf(_SC_CLK_TCK));
  listPids();
  reading.clock = readClock();
  reading.machineTicks = readMachineTicks();
  reading.processes.reserve(pids_.size());
  for (const std::int32_t pid : pids_) {
    auto process = readProcessStat(folder_.get(), pid);
    if (!process) continue;
    if (parts.hasOwners) process->userId = readProcessOwner(folder_.get(), pid).value_or(0);
    reading.processes.push_back(std::move(*process));
  }
  names_->complete(reading.processes, kNamePatience);
  for (ProcessCounters& process : reading.processes) process.name = toValidUtf8(process.name);
  if (parts.hasOwners) reading.owners = readOwners(roots_, reading.processes);
  if (parts.hasDisks) {
    const auto spentNs = disks_->complete(reading.processes, kDiskPatience);
    reading.hasDisks = spentNs.has_value();
    reading.spentNs = spentNs.value_or(0);
  }
  reading.spentNs += readThreadCpuNs() - spentBefore;
  return reading;
}

std::vector<ProcessOwner> readOwners(const Roots& roots, const std::vector<ProcessCounters>& processes) {
  std::set<std::uint32_t> wanted;
  for (const ProcessCounters& process : processes) wanted.insert(process.userId);
  std::string buffer;
  KeptFile passwd(roots.files + "/etc/passwd");
  std::vector<ProcessOwner> owners;
  // The first entry of a number counts (getpwuid(3)).
  for (const PasswdEntry& entry : parsePasswd(passwd.readIfPresent(buffer)))
    if (wanted.erase(entry.userId) > 0) owners.push_back({entry.userId, toValidUtf8(entry.name)});
  return owners;
}

}  // namespace hostwire
