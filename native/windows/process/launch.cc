// The one place on Windows where a process is started: CreateProcessW.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/error.h"
#include "host/process.h"
#include "windows/win32/command_line.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

struct EnvironmentFreer {
  void operator()(wchar_t* block) const { FreeEnvironmentStringsW(block); }
};

std::vector<std::wstring> ownEnvironment() {
  const std::unique_ptr<wchar_t, EnvironmentFreer> block(GetEnvironmentStringsW());
  std::vector<std::wstring> variables;
  for (const wchar_t* at = block.get(); at != nullptr && *at != L'\0'; at += variables.back().size() + 1)
    variables.emplace_back(at);
  return variables;
}

std::vector<std::wstring> wideOf(const std::vector<std::string>& texts) {
  std::vector<std::wstring> wide;
  wide.reserve(texts.size());
  for (const std::string& text : texts) wide.push_back(toWide(text));
  return wide;
}

bool hasZero(const LaunchOptions& options) {
  const auto has = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (has(options.program) || (options.folder && has(*options.folder))) return true;
  for (const auto* texts : {&options.arguments, &options.environment})
    for (const std::string& text : *texts)
      if (has(text)) return true;
  return false;
}

}  // namespace

std::int32_t launchProcess(const LaunchOptions& options) {
  const std::wstring program = toWide(options.program);
  // A text with a zero inside would differ from the one that was judged.
  if (hasZero(options) || program.find(L'"') != std::wstring::npos)
    throw win32Error(ERROR_INVALID_NAME, "CreateProcess");
  if (isBatchFile(program)) throw win32Error(ERROR_BAD_EXE_FORMAT, "CreateProcess of a batch file");
  std::wstring line = joinCommandLine(program, wideOf(options.arguments));
  std::wstring environment = joinEnvironment(ownEnvironment(), wideOf(options.environment));
  const std::wstring folder = options.folder ? toWide(*options.folder) : std::wstring();
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION started{};
  // It inherits none of the service's handles, has no console, and does not get Ctrl+C.
  constexpr DWORD kFlags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT;
  if (CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, FALSE, kFlags, environment.data(),
                     folder.empty() ? nullptr : folder.c_str(), &startup, &started) == FALSE)
    throw lastError("CreateProcess");
  const Handle process(started.hProcess);
  const Handle thread(started.hThread);
  return static_cast<std::int32_t>(started.dwProcessId);
}

}  // namespace hostwire
