// Every user may create folders in C:\ProgramData, and the creator owns them, so these are created before the
// service runs.
#include "windows/service/folders.h"

#include <optional>
#include <utility>

#include "host/folders.h"
#include "windows/win32/error_text.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <sddl.h>

namespace hostwire {
namespace {

// Owner and group: administrators. Nothing is inherited; all rights for the system and administrators.
// LocalService may read (FILE_GENERIC_READ | FILE_GENERIC_EXECUTE) and, in the log's folder, modify.
constexpr const wchar_t* kConfigRights = L"O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;LS)";
constexpr const wchar_t* kLogRights = L"O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;LS)";

DWORD makeFolder(const std::wstring& path, const wchar_t* rights) {
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, nullptr))
    return GetLastError();
  SECURITY_ATTRIBUTES attributes{};
  attributes.nLength = sizeof attributes;
  attributes.lpSecurityDescriptor = descriptor;
  const DWORD code = CreateDirectoryW(path.c_str(), &attributes) ? DWORD{ERROR_SUCCESS} : GetLastError();
  LocalFree(descriptor);
  return code;
}

}  // namespace

std::vector<std::string> makeServiceFolders() {
  const std::optional<std::string> machine = machineDataFolder();
  if (!machine) return {"Windows does not report the folder for settings: no folder was created"};
  std::vector<std::string> notes;
  const std::string folder = *machine + "\\hostwire";
  for (const auto& [path, rights] :
       {std::pair{folder, kConfigRights}, std::pair{folder + "\\log", kLogRights}}) {
    const DWORD code = makeFolder(toWide(path), rights);
    if (code == ERROR_ALREADY_EXISTS)
      notes.push_back(path +
                      " already exists and was left unchanged: check that only administrators can write to " +
                      folder + ", and that LocalService can read it and write to its folder log");
    else if (code != ERROR_SUCCESS)
      notes.push_back(path + " could not be created: " + windowsErrorText(code));
  }
  return notes;
}

}  // namespace hostwire
