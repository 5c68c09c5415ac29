// Windows' own functions of power.
#include "windows/power/calls.h"

// Of powrprof.dll since Windows 8; mingw-w64's headers lack them, its libraries have them.
extern "C" {
DWORD WINAPI PowerRegisterSuspendResumeNotification(DWORD flags, HANDLE recipient,
                                                    HPOWERNOTIFY* registration);
DWORD WINAPI PowerUnregisterSuspendResumeNotification(HPOWERNOTIFY registration);
}

namespace hostwire {

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
