// Libraries: LoadLibraryExW, only from the system's own folder unless a full path is given.
#include "host/library.h"

#include <stdexcept>
#include <system_error>

#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {

// In any other folder another user may have placed a library of the same name.
Library::Library(const std::string& path) {
  const bool isWhole = path.find_first_of("\\/") != std::string::npos;
  const DWORD flags = isWhole ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_SYSTEM32;
  handle_ = LoadLibraryExW(toWide(path).c_str(), nullptr, flags);
  if (handle_ != nullptr) return;
  const auto code = static_cast<int>(GetLastError());
  throw std::runtime_error(path + ": " + std::system_category().message(code));
}

Library::~Library() { FreeLibrary(static_cast<HMODULE>(handle_)); }

void* Library::find(const char* symbol) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), symbol));
}

Findings describeLibraries() { return {}; }

}  // namespace hostwire
