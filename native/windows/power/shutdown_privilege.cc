// The right to shut the machine down, which a process has to request.
#include "windows/power/calls.h"
#include "windows/win32/win32.h"

namespace hostwire {

DWORD enableShutdownPrivilege() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &opened))
    return GetLastError();
  const Handle token(opened);
  TOKEN_PRIVILEGES wanted{};
  wanted.PrivilegeCount = 1;
  wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
  if (!LookupPrivilegeValueW(nullptr, SE_SHUTDOWN_NAME, &wanted.Privileges[0].Luid)) return GetLastError();
  if (!AdjustTokenPrivileges(token.get(), FALSE, &wanted, 0, nullptr, nullptr)) return GetLastError();
  // The call returns TRUE even when it has done nothing.
  return GetLastError();
}

}  // namespace hostwire
