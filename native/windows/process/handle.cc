// A process by its handle.
#include "windows/process/handle.h"

#include "host/clock.h"

namespace hostwire {

std::uint64_t bootTicks() {
  static const std::uint64_t ticks = [] {
    FILETIME now{};
    GetSystemTimePreciseAsFileTime(&now);
    return ticksOf(now) - static_cast<std::uint64_t>(readClock().sinceBootNs / 100);
  }();
  return ticks;
}

std::uint64_t sinceBoot(std::uint64_t createdTicks) {
  const std::uint64_t boot = bootTicks();
  return createdTicks > boot ? createdTicks - boot : 0;
}

std::optional<std::uint64_t> startTicksOf(HANDLE process) {
  FILETIME created{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (GetProcessTimes(process, &created, &ended, &kernel, &user) == FALSE) return std::nullopt;
  return sinceBoot(ticksOf(created));
}

// An ended process can still be opened while another process holds a handle.
bool hasEnded(HANDLE process) { return WaitForSingleObject(process, 0) == WAIT_OBJECT_0; }

Handle openProcess(const ProcessId& process, DWORD access, DWORD& error) {
  constexpr DWORD kNeeded = PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE;
  Handle handle(OpenProcess(access | kNeeded, FALSE, static_cast<DWORD>(process.pid)));
  error = isOpen(handle) ? DWORD{ERROR_SUCCESS} : GetLastError();
  // The error for a number without a process.
  if (error == ERROR_INVALID_PARAMETER) error = ERROR_SUCCESS;
  if (!isOpen(handle) || startTicksOf(handle.get()) != process.startTicks || hasEnded(handle.get()))
    return {};
  return handle;
}

}  // namespace hostwire
