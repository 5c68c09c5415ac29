// Detached threads with a small stack: _beginthreadex.
#include "host/thread.h"

#include <process.h>

#include <memory>
#include <new>
#include <utility>

#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// Address space: a thread uses only the memory it touches. Drivers' libraries expect the usual size.
constexpr unsigned kStackBytes = 1U << 20U;

using Body = std::function<void()>;

unsigned __stdcall runBody(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  (*body)();
  return 0;
}

// Node unloads an addon when the last worker that loaded it ends; a stuck thread would return to unmapped
// code.
bool keepThisCodeLoaded() {
  HMODULE self = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<const wchar_t*>(&runBody), &self) != 0;
}

}  // namespace

bool startThread(std::function<void()> body) {
  static const bool isKept = keepThisCodeLoaded();
  static_cast<void>(isKept);
  std::unique_ptr<Body> owned(new (std::nothrow) Body(std::move(body)));
  if (!owned) return false;
  const auto started =
      _beginthreadex(nullptr, kStackBytes, runBody, owned.get(), STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  if (started == 0) return false;
  static_cast<void>(owned.release());
  const Handle handle(reinterpret_cast<HANDLE>(started));
  return true;
}

}  // namespace hostwire
