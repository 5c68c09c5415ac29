// A process by its handle, which keeps referring to it even when its number is reused.
#pragma once

#include <cstdint>
#include <optional>

#include "host/process.h"
#include "windows/win32/win32.h"

namespace hostwire {

// The kernel counts in 100 ns.
inline constexpr std::uint32_t kProcessTicksPerSecond = 10'000'000;

// Returns the time at which this service assumes the machine to have started, in units of 100 ns since 1601.
// Constant while it runs, so a process is identified by the time from then to its start.
std::uint64_t bootTicks();
std::uint64_t sinceBoot(std::uint64_t createdTicks);

// Returns when the process started, as in ProcessId; nothing if Windows refuses to report it.
std::optional<std::uint64_t> startTicksOf(HANDLE process);

// Opens exactly this process, while it runs. Not open when it has ended, or for the reason in `error`.
Handle openProcess(const ProcessId& process, DWORD access, DWORD& error);

bool hasEnded(HANDLE process);

}  // namespace hostwire
