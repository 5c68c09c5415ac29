// Windows' own power functions.
#include "windows/power/calls.h"

// In powrprof.dll since Windows 8; missing from mingw-w64's headers but not from its libraries.
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
