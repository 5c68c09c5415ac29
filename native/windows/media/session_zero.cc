// The session of Windows' services.
#include "windows/media/session_zero.h"

#include <windows.h>

namespace hostwire {

bool isInSessionZero() {
  DWORD session = 0;
  return ProcessIdToSessionId(GetCurrentProcessId(), &session) != FALSE && session == 0;
}

}  // namespace hostwire
