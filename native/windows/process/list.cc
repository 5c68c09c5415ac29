// The list of processes: NtQuerySystemInformation(SystemProcessInformation).
#include "windows/process/list.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "windows/process/handle.h"
#include "windows/win32/processor_times.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <winternl.h>

namespace hostwire {
namespace {

constexpr auto kProcesses = static_cast<SYSTEM_INFORMATION_CLASS>(5);
constexpr auto kTooSmall = static_cast<LONG>(0xC0000004U);
// Extra bytes for processes that start between the two calls.
constexpr std::size_t kRoom = 64U << 10U;
constexpr std::uint32_t kSystemPid = 4;

// Returns whether its only program is the kernel.
bool isKernel(const ListedProcess& process) {
  if (process.pid == kSystemPid) return true;
  return process.parentPid == kSystemPid &&
         (process.name == "Registry" || process.name == "Memory Compression" ||
          process.name == "Secure System");
}

// Returns the ticks of all processors, in the same units.
std::optional<std::uint64_t> readMachineTicks() {
  FILETIME idle{};
  FILETIME kernel{};
  FILETIME user{};
  if (GetSystemTimes(&idle, &kernel, &user) == FALSE) return std::nullopt;
  // The kernel's includes idle.
  return ticksOf(kernel) + ticksOf(user);
}

ProcessCounters countersOf(ListedProcess&& listed) {
  ProcessCounters counters;
  counters.id = {static_cast<std::int32_t>(listed.pid), sinceBoot(listed.createdTicks)};
  counters.parentPid = static_cast<std::int32_t>(listed.parentPid);
  counters.threads = listed.threads;
  counters.state = listed.state;
  counters.isKernelThread = isKernel(listed);
  counters.cpuTicks = listed.cpuTicks;
  counters.residentBytes = listed.residentBytes;
  counters.disk = {listed.readBytes, listed.writeBytes};
  counters.name = std::move(listed.name);
  return counters;
}

}  // namespace

std::vector<ListedProcess> ProcessLister::list() {
  for (;;) {
    ULONG needed = 0;
    const LONG status =
        NtQuerySystemInformation(kProcesses, buffer_.data(), static_cast<ULONG>(buffer_.size()), &needed);
    if (status == kTooSmall) {
      buffer_.resize(std::max<std::size_t>(needed, buffer_.size()) + kRoom);
      continue;
    }
    if (status < 0) throw win32Error(RtlNtStatusToDosError(status), "NtQuerySystemInformation");
    const std::size_t written = std::min<std::size_t>(needed, buffer_.size());
    return parseProcesses(std::span(buffer_).first(written),
                          reinterpret_cast<std::uintptr_t>(buffer_.data()));
  }
}

ProcessReading ProcessLister::read(ProcessOwners* owners) {
  const std::int64_t begunAtNs = readClock().monotonicNs;
  ProcessReading reading;
  reading.ticksPerSecond = kProcessTicksPerSecond;
  auto listed = list();
  reading.clock = readClock();
  reading.machineTicks = readMachineTicks();
  reading.hasDisks = true;
  forgetLaterParents(listed);
  // The idle process, number 0, is not shown.
  const auto isNone = [](const ListedProcess& process) {
    return process.pid == 0 ||
           process.pid > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  };
  listed.erase(std::remove_if(listed.begin(), listed.end(), isNone), listed.end());
  std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  std::set<std::uint32_t> seen;
  reading.processes.reserve(listed.size());
  for (ListedProcess& process : listed) {
    ProcessCounters counters = countersOf(std::move(process));
    if (owners != nullptr) {
      DWORD error = 0;
      const Handle handle = openProcess(counters.id, 0, error);
      counters.userId = isOpen(handle) ? owners->ownerOf(handle.get()) : ProcessOwners::kUnknown;
      seen.insert(counters.userId);
    }
    reading.processes.push_back(std::move(counters));
  }
  if (owners != nullptr) reading.owners = owners->named(seen);
  // GetThreadTimes counts in steps of 15.6 ms; nothing here waits.
  reading.spentNs = readClock().monotonicNs - begunAtNs;
  return reading;
}

}  // namespace hostwire
