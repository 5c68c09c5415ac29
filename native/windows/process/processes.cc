// The processes of Windows: readings, details, paths.
#include "host/process.h"

#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "host/prober.h"
#include "windows/process/handle.h"
#include "windows/process/list.h"
#include "windows/process/memory.h"
#include "windows/process/owners.h"
#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

// The longest path on Windows (Naming Files, Paths, and Namespaces).
constexpr DWORD kPathUnits = 32'768;

using Shared = std::shared_ptr<const ProcessReading>;

std::optional<std::string> pathOf(HANDLE process) {
  std::wstring path(kPathUnits, L'\0');
  DWORD length = kPathUnits;
  if (QueryFullProcessImageNameW(process, 0, path.data(), &length) == FALSE) return std::nullopt;
  return toUtf8(std::wstring_view(path).substr(0, length));
}

}  // namespace

struct ProcessReader::State {
  explicit State(const Roots& givenRoots)
      : roots(givenRoots), prober(probers, [lister = std::make_shared<ProcessLister>()]() -> Shared {
          return std::make_shared<const ProcessReading>(lister->read(nullptr));
        }) {}

  const Roots roots;
  // Separate: a long list must not delay other answers.
  ProberPool probers;
  Prober<Shared> prober;
  ProcessOwners owners;
};

ProcessReader::ProcessReader(const Roots& roots) : state_(std::make_shared<State>(roots)) {}
ProcessReader::~ProcessReader() = default;

Shared ProcessReader::latest() { return state_->prober.latest().value.value_or(nullptr); }

void ProcessReader::ask(std::chrono::milliseconds delay) {
  static_cast<void>(state_->prober.latest());  // marks it as wanted
  state_->probers.askAll(delay);
}

// Each reading includes them: they are in the kernel's list.
void ProcessReader::includeDisks() {}

ProcessReading ProcessReader::read(State& state, bool) { return ProcessLister().read(&state.owners); }

Findings ProcessReader::describe(State& state) {
  const std::string source = "NtQuerySystemInformation";
  auto findings = describeOrExplain("processes", source, [&]() -> Findings {
    const std::size_t count = read(state, false).processes.size();
    return {Finding::works("processes", countOf(count, "process", "processes") + " from " + source)};
  });
  findings.push_back(Finding::possible("process-control", whyNoProcessControl(state.roots)));
  return findings;
}

std::optional<ProcessDetails> ProcessReader::readDetails(State& state, std::int32_t pid) {
  auto reading = ProcessLister().read(nullptr);
  for (ProcessCounters& counters : reading.processes) {
    if (counters.id.pid != pid) continue;
    ProcessDetails details;
    DWORD error = 0;
    // The handle refers to exactly this process: all of the following is read from the same one.
    Handle handle = openProcess(counters.id, PROCESS_VM_READ, error);
    if (!isOpen(handle) && error == ERROR_ACCESS_DENIED) handle = openProcess(counters.id, 0, error);
    if (!isOpen(handle) && error == ERROR_SUCCESS) return std::nullopt;
    if (isOpen(handle)) {
      counters.userId = state.owners.ownerOf(handle.get());
      details.path = pathOf(handle.get());
      auto [folder, command] = readProcessParameters(handle.get());
      details.folder = std::move(folder);
      details.command = std::move(command);
    }
    if (counters.userId != ProcessOwners::kUnknown)
      details.owner = state.owners.named({counters.userId}).front().name;
    details.counters = std::move(counters);
    return details;
  }
  return std::nullopt;
}

std::vector<std::optional<std::string>> ProcessReader::readPaths(State&,
                                                                 std::span<const ProcessId> processes) {
  std::vector<std::optional<std::string>> paths;
  paths.reserve(processes.size());
  for (const ProcessId& process : processes) {
    DWORD error = 0;
    const Handle handle = openProcess(process, 0, error);
    paths.push_back(isOpen(handle) ? pathOf(handle.get()) : std::nullopt);
  }
  return paths;
}

}  // namespace hostwire
