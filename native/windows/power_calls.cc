// Windows' own functions of power.
#include "windows/power_calls.h"

#include <memory>

// Of powrprof.dll since Windows 8; mingw-w64's headers lack them, its libraries have them.
extern "C" {
DWORD WINAPI PowerRegisterSuspendResumeNotification(DWORD flags, HANDLE recipient,
                                                    HPOWERNOTIFY* registration);
DWORD WINAPI PowerUnregisterSuspendResumeNotification(HPOWERNOTIFY registration);
}

namespace hostwire {
namespace {

struct HandleCloser {
  void operator()(void* handle) const { CloseHandle(handle); }
};

}  // namespace

DWORD enableShutdownPrivilege() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &opened))
    return GetLastError();
  const std::unique_ptr<void, HandleCloser> token(opened);
  TOKEN_PRIVILEGES wanted{};
  wanted.PrivilegeCount = 1;
  wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
  if (!LookupPrivilegeValueW(nullptr, SE_SHUTDOWN_NAME, &wanted.Privileges[0].Luid)) return GetLastError();
  if (!AdjustTokenPrivileges(token.get(), FALSE, &wanted, 0, nullptr, nullptr)) return GetLastError();
  // It says TRUE also when it has done nothing.
  return GetLastError();
}

const PowerCalls& systemPowerCalls() {
  static const PowerCalls calls{
      &hostwire::enableShutdownPrivilege,
      &::CallNtPowerInformation,
      &::InitiateSystemShutdownExW,
      &::SetSuspendState,
      &::LockWorkStation,
      &::ProcessIdToSessionId,
      &::PowerRegisterSuspendResumeNotification,
      &::PowerUnregisterSuspendResumeNotification,
  };
  return calls;
}

}  // namespace hostwire
