// Uses SHGetKnownFolderPath: the variable %ProgramData% may have been changed by the program that started the
// service.
#include "host/folders.h"

#include <memory>

#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <objbase.h>
#include <shlobj.h>

namespace hostwire {
namespace {

// FOLDERID_ProgramData {62AB5D82-FDC1-4DC3-A9DD-070D1D495D97}; not in every library.
constexpr GUID kProgramData{0x62AB5D82, 0xFDC1, 0x4DC3, {0xA9, 0xDD, 0x07, 0x0D, 0x1D, 0x49, 0x5D, 0x97}};

struct TaskMemoryDeleter {
  void operator()(wchar_t* text) const { CoTaskMemFree(text); }
};

}  // namespace

std::optional<std::string> machineDataFolder() {
  wchar_t* found = nullptr;
  const HRESULT result = SHGetKnownFolderPath(kProgramData, 0, nullptr, &found);
  // It must be freed whatever the result.
  const std::unique_ptr<wchar_t, TaskMemoryDeleter> path(found);
  if (FAILED(result) || path == nullptr) return std::nullopt;
  return toUtf8(path.get());
}

}  // namespace hostwire
