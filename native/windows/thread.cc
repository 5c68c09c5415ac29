// Detached threads as the C++ library gives them.
#include "host/thread.h"

#include <windows.h>

#include <system_error>
#include <thread>
#include <utility>

namespace hostwire {
namespace {

// Node unloads an addon with the last environment that uses it, and a thread of ours may outlive that.
bool keepLoaded() {
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
  HMODULE module = nullptr;
  return GetModuleHandleExW(kFlags, reinterpret_cast<LPCWSTR>(&startThread), &module) != FALSE;
}

}  // namespace

bool startThread(std::function<void()> body) {
  static const bool isKept = keepLoaded();
  if (!isKept) return false;
  try {
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace hostwire
