// windows.h with its prerequisites, and the parts that every user of it needs: errors, handles, optional
// functions.
#pragma once

#include <windows.h>
#include <winsock2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "host/error.h"

namespace hostwire {

// `code` is a Win32 error. It is read before the operation's name is built, which may change the thread's
// last error.
inline HostError win32Error(DWORD code, const char* operation) {
  return HostError(static_cast<int>(code), operation);
}
inline HostError lastError(const char* operation) { return win32Error(GetLastError(), operation); }

struct HandleCloser {
  void operator()(HANDLE handle) const {
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  }
};
// Null or INVALID_HANDLE_VALUE: not open (see isOpen).
using Handle = std::unique_ptr<std::remove_pointer_t<HANDLE>, HandleCloser>;
inline bool isOpen(const Handle& handle) { return handle != nullptr && handle.get() != INVALID_HANDLE_VALUE; }

// Returns units of 100 ns.
inline std::uint64_t ticksOf(const FILETIME& time) {
  return static_cast<std::uint64_t>(time.dwHighDateTime) << 32U | time.dwLowDateTime;
}

// Returns a function that only some versions of Windows have, from a module that is loaded in every process;
// null without it.
template <class Function>
Function findFunction(const wchar_t* module, const char* name) {
  const HMODULE handle = GetModuleHandleW(module);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(handle, name)));
}

}  // namespace hostwire
