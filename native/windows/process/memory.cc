// The parameters a process was started with: its environment block (PEB) and the structures it points to, on
// x64.
#include "windows/process/memory.h"

#include <shellapi.h>
// After windows.h.
#include <winternl.h>

#include <cstdint>
#include <memory>

#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

// Offsets in PEB and RTL_USER_PROCESS_PARAMETERS (winternl.h names some of them).
constexpr std::uint64_t kParameters = 0x20;
constexpr std::uint64_t kFolder = 0x38;
constexpr std::uint64_t kCommandLine = 0x70;

struct RemoteText {
  std::uint16_t bytes = 0;
  std::uint16_t room = 0;
  std::uint32_t padding = 0;
  std::uint64_t address = 0;
};
static_assert(sizeof(RemoteText) == 16);

struct LocalFreer {
  void operator()(wchar_t** words) const { LocalFree(words); }
};

bool readMemory(HANDLE process, std::uint64_t address, void* bytes, std::size_t count) {
  SIZE_T done = 0;
  const auto* const from = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
  return ReadProcessMemory(process, from, bytes, count, &done) != FALSE && done == count;
}

std::optional<std::wstring> readText(HANDLE process, std::uint64_t address) {
  RemoteText text;
  if (!readMemory(process, address, &text, sizeof text)) return std::nullopt;
  std::wstring units(text.bytes / sizeof(wchar_t), L'\0');
  if (!readMemory(process, text.address, units.data(), units.size() * sizeof(wchar_t))) return std::nullopt;
  return units;
}

std::vector<std::string> splitCommandLine(const std::wstring& line) {
  std::vector<std::string> words;
  // For an empty line it would return the path of this program.
  if (line.empty()) return words;
  int count = 0;
  const std::unique_ptr<wchar_t*, LocalFreer> found(CommandLineToArgvW(line.c_str(), &count));
  for (int i = 0; found && i < count; ++i) words.push_back(toUtf8(found.get()[i]));
  return words;
}

}  // namespace

ProcessParameters readProcessParameters(HANDLE process) {
  ProcessParameters parameters;
  PROCESS_BASIC_INFORMATION basic{};
  ULONG written = 0;
  std::uint64_t address = 0;
  if (NtQueryInformationProcess(process, ProcessBasicInformation, &basic, sizeof basic, &written) < 0 ||
      !readMemory(process, reinterpret_cast<std::uintptr_t>(basic.PebBaseAddress) + kParameters, &address,
                  sizeof address))
    return parameters;
  if (const auto folder = readText(process, address + kFolder)) parameters.folder = toUtf8(*folder);
  if (const auto line = readText(process, address + kCommandLine))
    parameters.command = splitCommandLine(*line);
  return parameters;
}

}  // namespace hostwire
