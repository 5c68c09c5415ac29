// The power functions of Windows as a table, so that a test can take Windows' place.
#pragma once

#include <windows.h>
// After windows.h, whose types it uses.
#include <powrprof.h>

namespace hostwire {

// Each like the function of the same name, except for `enableShutdownPrivilege`, which returns an error code,
// 0 for success.
struct PowerCalls {
  DWORD (*enableShutdownPrivilege)();
  LONG(WINAPI* powerInformation)
  (POWER_INFORMATION_LEVEL level, void* input, ULONG inputBytes, void* output, ULONG outputBytes);
  BOOL(WINAPI* initiateSystemShutdown)
  (LPWSTR machine, LPWSTR message, DWORD timeoutSeconds, BOOL isForced, BOOL isRestart, DWORD reason);
  BOOLEAN(WINAPI* setSuspendState)(BOOLEAN isHibernation, BOOLEAN isForced, BOOLEAN areWakeEventsDisabled);
  BOOL(WINAPI* lockWorkStation)();
  BOOL(WINAPI* processIdToSessionId)(DWORD pid, DWORD* session);
  DWORD(WINAPI* registerSuspendResume)(DWORD flags, HANDLE recipient, HPOWERNOTIFY* registration);
  DWORD(WINAPI* unregisterSuspendResume)(HPOWERNOTIFY registration);
};

const PowerCalls& systemPowerCalls();

// Windows enables a process's right to shut the machine down only on request. ERROR_NOT_ALL_ASSIGNED: this
// user does not have it.
DWORD enableShutdownPrivilege();

// DEVICE_NOTIFY_SUBSCRIBE_PARAMETERS of powrprof.h, which mingw-w64's lacks.
struct SuspendResumeRecipient {
  ULONG(CALLBACK* callback)(void* context, ULONG type, void* setting);
  void* context;
};
// DEVICE_NOTIFY_CALLBACK of winuser.h: likewise.
inline constexpr DWORD kNotifyByCallback = 2;

}  // namespace hostwire
