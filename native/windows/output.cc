// WriteFile: a console and a file take all bytes in one call; a pipe waits for its reader.
#include "host/output.h"

#include "host/error.h"
#include "windows/win32/win32.h"

namespace hostwire {

std::size_t writeAtOnce(int stream, std::string_view bytes) {
  const HANDLE handle = GetStdHandle(stream == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  DWORD written = 0;
  if (WriteFile(handle, bytes.data(), static_cast<DWORD>(bytes.size()), &written, nullptr) == FALSE)
    throw HostError(static_cast<int>(GetLastError()), "WriteFile");
  return written;
}

void ignoreStraySignals() {}

void endWithParent() {}

void releaseClosedTerminal() {}

}  // namespace hostwire
