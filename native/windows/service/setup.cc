// Registers the service with the service control manager, and removes it.
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "host/windows_service.h"
#include "windows/service/folders.h"
#include "windows/service/names.h"
#include "windows/win32/command_line.h"
#include "windows/win32/error_text.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// An account without a password and without rights to other users' files, which has SeShutdownPrivilege, the
// only right that power needs ("LocalService Account").
constexpr const wchar_t* kAccount = L"NT AUTHORITY\\LocalService";
// All other rights are removed from its token, above all the right to impersonate its clients.
constexpr wchar_t kPrivileges[] = L"SeChangeNotifyPrivilege\0SeShutdownPrivilege\0";
constexpr DWORD kForgetFailuresSeconds = 86'400;
constexpr std::chrono::seconds kStopLimit{10};

struct ServiceCloser {
  void operator()(SC_HANDLE handle) const { CloseServiceHandle(handle); }
};
using ServiceHandle = std::unique_ptr<std::remove_pointer_t<SC_HANDLE>, ServiceCloser>;

[[noreturn]] void refuse(const char* operation, DWORD code) {
  switch (code) {
    case ERROR_ACCESS_DENIED:
      throw std::runtime_error("only an administrator may do this: open a terminal as administrator");
    case ERROR_SERVICE_EXISTS:
      throw std::runtime_error(
          "the service hostwire is already registered: run hostwire service remove first");
    case ERROR_SERVICE_DOES_NOT_EXIST: throw std::runtime_error("no service hostwire is registered");
    case ERROR_SERVICE_MARKED_FOR_DELETE:
      throw std::runtime_error(
          "the service hostwire is still being removed: close programs that show it (services.msc, Task "
          "Manager)");
    default: throw std::runtime_error(std::string(operation) + ": " + windowsErrorText(code));
  }
}

ServiceHandle openManager(DWORD access) {
  ServiceHandle manager(OpenSCManagerW(nullptr, nullptr, access));
  if (!manager) refuse("OpenSCManager", GetLastError());
  return manager;
}

// Adds a sentence to `notes` when Windows refuses it.
void set(SC_HANDLE service, DWORD what, void* value, const char* name, std::vector<std::string>& notes) {
  if (!ChangeServiceConfig2W(service, what, value))
    notes.push_back(std::string(name) + " could not be set: " + windowsErrorText(GetLastError()));
}

void configure(SC_HANDLE service, std::vector<std::string>& notes) {
  std::wstring text(kServiceDescription);
  SERVICE_DESCRIPTIONW description{text.data()};
  set(service, SERVICE_CONFIG_DESCRIPTION, &description, "the description", notes);
  // Other services do not wait for this one at start.
  SERVICE_DELAYED_AUTO_START_INFO delayed{TRUE};
  set(service, SERVICE_CONFIG_DELAYED_AUTO_START_INFO, &delayed, "the delayed start", notes);
  std::wstring names(std::begin(kPrivileges), std::end(kPrivileges));
  SERVICE_REQUIRED_PRIVILEGES_INFOW privileges{names.data()};
  set(service, SERVICE_CONFIG_REQUIRED_PRIVILEGES_INFO, &privileges, "the list of its rights", notes);
  // Restarts only after a crash: a bad configuration stays bad.
  std::array<SC_ACTION, 3> restarts{
      {{SC_ACTION_RESTART, 5'000}, {SC_ACTION_RESTART, 30'000}, {SC_ACTION_RESTART, 60'000}}};
  SERVICE_FAILURE_ACTIONSW actions{};
  actions.dwResetPeriod = kForgetFailuresSeconds;
  actions.cActions = static_cast<DWORD>(restarts.size());
  actions.lpsaActions = restarts.data();
  set(service, SERVICE_CONFIG_FAILURE_ACTIONS, &actions, "the restart after a crash", notes);
}

std::wstring imagePathOf(const std::vector<std::string>& command) {
  std::vector<std::wstring> words;
  for (const std::string& word : command) {
    // Windows takes it for the start of a variable's name.
    if (word.find('%') != std::string::npos)
      throw std::runtime_error("the command of a service cannot contain %: " + word);
    words.push_back(toWide(word));
  }
  if (words.empty()) throw std::runtime_error("a service needs a command");
  return joinCommandLine(words.front(), {words.begin() + 1, words.end()});
}

// A service that does not accept the request or does not stop in time runs until the machine is shut down,
// and is removed then.
void stopAndWait(SC_HANDLE service) {
  SERVICE_STATUS status{};
  bool isAccepted = false;
  const auto limit = std::chrono::steady_clock::now() + kStopLimit;
  while (std::chrono::steady_clock::now() < limit) {
    if (!QueryServiceStatus(service, &status) || status.dwCurrentState == SERVICE_STOPPED) return;
    // A service that is still starting accepts the request once it serves.
    isAccepted = isAccepted || ControlService(service, SERVICE_CONTROL_STOP, &status);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

std::vector<std::string> installService(const std::vector<std::string>& command) {
  const std::wstring imagePath = imagePathOf(command);
  const ServiceHandle manager = openManager(SC_MANAGER_CREATE_SERVICE);
  // The restart of a service may only be configured through a handle that may start it.
  const ServiceHandle service(CreateServiceW(manager.get(), kServiceName, kServiceTitle,
                                             SERVICE_CHANGE_CONFIG | SERVICE_START, SERVICE_WIN32_OWN_PROCESS,
                                             SERVICE_AUTO_START, SERVICE_ERROR_NORMAL, imagePath.c_str(),
                                             nullptr, nullptr, nullptr, kAccount, nullptr));
  if (!service) refuse("CreateService", GetLastError());
  std::vector<std::string> notes = makeServiceFolders();
  configure(service.get(), notes);
  return notes;
}

void removeService() {
  const ServiceHandle manager = openManager(SC_MANAGER_CONNECT);
  const ServiceHandle service(
      OpenServiceW(manager.get(), kServiceName, DELETE | SERVICE_STOP | SERVICE_QUERY_STATUS));
  if (!service) refuse("OpenService", GetLastError());
  stopAndWait(service.get());
  if (!DeleteService(service.get())) refuse("DeleteService", GetLastError());
}

}  // namespace hostwire
