// A process by its handle, which stays the same one whoever gets its number next.
#pragma once

#include <cstdint>
#include <optional>

#include "host/process.h"
#include "windows/win32/win32.h"

namespace hostwire {

// 100 ns, as the kernel counts.
inline constexpr std::uint32_t kProcessTicksPerSecond = 10'000'000;

// When this service takes the machine to have started, in units of 100 ns since 1601. The same as long as it
// runs, so that a process is told by the time from then to its start.
std::uint64_t bootTicks();
std::uint64_t sinceBoot(std::uint64_t createdTicks);

// When the process began, as ProcessId says it; nothing where Windows will not tell.
std::optional<std::uint64_t> startTicksOf(HANDLE process);

// Exactly this process, while it runs. Not open when it has ended, or `error` says why not.
Handle openProcess(const ProcessId& process, DWORD access, DWORD& error);

bool hasEnded(HANDLE process);

}  // namespace hostwire
