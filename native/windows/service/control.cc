// The service control manager, as the process that it has started sees it.
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "host/thread.h"
#include "host/windows_service.h"
#include "windows/service/names.h"
#include "windows/win32/error_text.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// Time that the manager should wait for the next status.
constexpr DWORD kStartHintMs = 30'000;
constexpr DWORD kStopHintMs = 10'000;

struct Service {
  std::mutex mutex;
  std::condition_variable hasEnded;
  SERVICE_STATUS_HANDLE handle = nullptr;
  SERVICE_STATUS status{};
  bool isStopWanted = false;
  // Set before any other thread can see them.
  ServiceBegun begun;
  std::function<void()> onStop;
};

// Never destroyed: threads of Windows may use it until the process has ended.
Service& theService() {
  static Service* const only = new Service;
  return *only;
}

// Call it with the service's lock held.
void setStatus(Service& service, DWORD state, DWORD waitHintMs) {
  SERVICE_STATUS& status = service.status;
  status.dwServiceType = SERVICE_WIN32_OWN_PROCESS;
  status.dwCurrentState = state;
  status.dwControlsAccepted = state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0U;
  status.dwCheckPoint = waitHintMs == 0 ? 0 : 1;
  status.dwWaitHint = waitHintMs;
  // Fails without harm if no manager has started this process.
  SetServiceStatus(service.handle, &status);
}

// Runs on a Windows thread, which must not wait. A shutdown leaves more time than this service needs to end,
// so no earlier notification is needed (SERVICE_CONTROL_PRESHUTDOWN).
DWORD WINAPI onControl(DWORD control, DWORD, void*, void*) {
  if (control == SERVICE_CONTROL_INTERROGATE) return NO_ERROR;
  if (control != SERVICE_CONTROL_STOP && control != SERVICE_CONTROL_SHUTDOWN)
    return ERROR_CALL_NOT_IMPLEMENTED;
  Service& service = theService();
  {
    const std::lock_guard lock(service.mutex);
    if (service.status.dwCurrentState != SERVICE_RUNNING || std::exchange(service.isStopWanted, true))
      return NO_ERROR;
    setStatus(service, SERVICE_STOP_PENDING, kStopHintMs);
  }
  service.onStop();
  return NO_ERROR;
}

// Runs on another thread of Windows; when it returns, the service has ended.
void WINAPI serviceMain(DWORD, LPWSTR*) {
  Service& service = theService();
  std::unique_lock lock(service.mutex);
  service.handle = RegisterServiceCtrlHandlerExW(kServiceName, onControl, nullptr);
  if (service.handle == nullptr) {
    const std::string reason = windowsErrorText(GetLastError());
    lock.unlock();
    return service.begun("cannot listen to the service control manager: " + reason);
  }
  setStatus(service, SERVICE_START_PENDING, kStartHintMs);
  lock.unlock();
  service.begun(std::nullopt);
  lock.lock();
  service.hasEnded.wait(lock, [&service] { return service.status.dwCurrentState == SERVICE_STOPPED; });
}

std::string whyNotBegun(DWORD code) {
  if (code != ERROR_FAILED_SERVICE_CONTROLLER_CONNECT)
    return "the service control manager cannot be reached: " + windowsErrorText(code);
  return "--service is for the service control manager, which did not start this process: register the "
         "service (hostwire service install) and start it (sc start hostwire), or omit --service";
}

}  // namespace

void beginService(const ServiceBegun& begun, const std::function<void()>& onStop) {
  Service& service = theService();
  service.begun = begun;
  service.onStop = onStop;
  const bool isStarted = startThread([&service] {
    std::wstring name(kServiceName);
    const SERVICE_TABLE_ENTRYW table[] = {{name.data(), serviceMain}, {nullptr, nullptr}};
    // The call returns when the service has ended, or immediately.
    if (!StartServiceCtrlDispatcherW(table)) service.begun(whyNotBegun(GetLastError()));
  });
  if (!isStarted) service.begun("the system could not start a thread");
}

void reportServiceRunning() {
  Service& service = theService();
  const std::lock_guard lock(service.mutex);
  if (service.status.dwCurrentState == SERVICE_START_PENDING) setStatus(service, SERVICE_RUNNING, 0);
}

void reportServiceEnded(int exitCode) {
  Service& service = theService();
  const std::lock_guard lock(service.mutex);
  if (service.handle == nullptr || service.status.dwCurrentState == SERVICE_STOPPED) return;
  service.status.dwWin32ExitCode = exitCode == 0 ? DWORD{NO_ERROR} : DWORD{ERROR_SERVICE_SPECIFIC_ERROR};
  service.status.dwServiceSpecificExitCode = static_cast<DWORD>(exitCode);
  setStatus(service, SERVICE_STOPPED, 0);
  service.hasEnded.notify_all();
}

}  // namespace hostwire
