// Ending processes through handles: WM_CLOSE to their windows, TerminateProcess, suspension.
#include <algorithm>
#include <chrono>

#include "host/error.h"
#include "host/process.h"
#include "windows/process/handle.h"
#include "windows/win32/win32.h"

// In ntdll.dll; not in any header. Task Manager's own suspension uses them.
extern "C" {
LONG NTAPI NtSuspendProcess(HANDLE process);
LONG NTAPI NtResumeProcess(HANDLE process);
}

namespace hostwire {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The exit code after TerminateProcess, as with Task Manager.
constexpr UINT kExitCode = 1;

using IsCritical = BOOL(WINAPI*)(HANDLE, PBOOL);

// Returns whether Windows crashes when this process ends.
bool isCritical(HANDLE process) {
  static const auto ask = findFunction<IsCritical>(L"kernel32.dll", "IsProcessCritical");
  BOOL is = FALSE;
  return ask != nullptr && ask(process, &is) != FALSE && is != FALSE;
}

// Closes only windows that a user could close: an owned window closes with its owner, an invisible one does
// not belong to the user.
BOOL CALLBACK closeWindow(HWND window, LPARAM pid) {
  DWORD owner = 0;
  GetWindowThreadProcessId(window, &owner);
  if (owner == static_cast<DWORD>(pid) && IsWindowVisible(window) != FALSE &&
      GetWindow(window, GW_OWNER) == nullptr)
    PostMessageW(window, WM_CLOSE, 0, 0);
  return TRUE;
}

DWORD accessFor(EndSignal signal) {
  switch (signal) {
    case EndSignal::kTerminate: return 0;
    case EndSignal::kKill: return PROCESS_TERMINATE;
    case EndSignal::kStop:
    case EndSignal::kContinue: return PROCESS_SUSPEND_RESUME;
  }
  return 0;
}

// An error code; 0: done.
DWORD carryOut(HANDLE handle, const ProcessId& process, EndSignal signal) {
  const auto errorOf = [](LONG status) {
    return status < 0 ? DWORD{ERROR_ACCESS_DENIED} : DWORD{ERROR_SUCCESS};
  };
  switch (signal) {
    case EndSignal::kTerminate:
      // A process without a window cannot be asked; it is not ended, and the caller gets the reason.
      EnumWindows(closeWindow, static_cast<LPARAM>(process.pid));
      return ERROR_SUCCESS;
    case EndSignal::kKill:
      return TerminateProcess(handle, kExitCode) != FALSE ? DWORD{ERROR_SUCCESS} : GetLastError();
    case EndSignal::kStop: return errorOf(NtSuspendProcess(handle));
    case EndSignal::kContinue: return errorOf(NtResumeProcess(handle));
  }
  return ERROR_INVALID_PARAMETER;
}

}  // namespace

std::optional<Obstacle> whyNoProcessControl(const Roots& roots) {
  if (!roots.isDefault())
    return Obstacle{"processes are seen through another root than the machine's own",
                    "leave host.proc and host.sys at their defaults"};
  return std::nullopt;
}

SignalOutcome signalProcess(const ProcessId& process, EndSignal signal) {
  DWORD error = 0;
  const Handle handle = openProcess(process, accessFor(signal), error);
  if (error == ERROR_ACCESS_DENIED) return SignalOutcome::kDenied;
  if (error != ERROR_SUCCESS) throw win32Error(error, "OpenProcess");
  if (!isOpen(handle)) return SignalOutcome::kGone;
  const bool isEnd = signal == EndSignal::kKill || signal == EndSignal::kStop;
  if (isEnd && isCritical(handle.get())) return SignalOutcome::kDenied;
  error = carryOut(handle.get(), process, signal);
  if (error == ERROR_SUCCESS) return SignalOutcome::kSent;
  // The same error is returned for a process that has just ended.
  if (hasEnded(handle.get())) return SignalOutcome::kGone;
  if (error == ERROR_ACCESS_DENIED) return SignalOutcome::kDenied;
  throw win32Error(error, "TerminateProcess");
}

// One after the other, because Windows waits for at most 64 in one call: all have the same deadline.
std::vector<bool> waitForEnd(std::span<const ProcessId> processes, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::vector<Handle> handles;
  std::vector<bool> ended;
  for (const ProcessId& process : processes) {
    DWORD error = 0;
    handles.push_back(openProcess(process, 0, error));
    if (error != ERROR_SUCCESS && error != ERROR_ACCESS_DENIED) throw win32Error(error, "OpenProcess");
    ended.push_back(!isOpen(handles.back()) && error == ERROR_SUCCESS);
  }
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (!isOpen(handles[i])) continue;
    const auto left = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline - Clock::now()));
    ended[i] = WaitForSingleObject(handles[i].get(), static_cast<DWORD>(left.count())) == WAIT_OBJECT_0;
  }
  return ended;
}

}  // namespace hostwire
