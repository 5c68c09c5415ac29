// Processes: the list, their resource use, and the few actions on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

// Identifies a process, even after its number is reused.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t startTicks = 0;
  bool operator==(const ProcessId&) const = default;
};

// Bytes since the process started.
struct ProcessDisk {
  std::uint64_t readBytes = 0;
  std::uint64_t writeBytes = 0;
};

struct ProcessCounters {
  ProcessId id;
  std::int32_t parentPid = 0;
  std::uint32_t userId = 0;  // the effective user; 0 in readings without owners
  std::uint32_t threads = 0;
  char state = '?';  // in the kernel's notation: R runs or could, S and D wait, Z has ended, …
  bool isKernelThread = false;
  std::uint64_t cpuTicks = 0;
  std::uint64_t residentBytes = 0;
  std::optional<ProcessDisk> disk;  // nothing where it is hidden, and in readings without disks
  std::string name;                 // UTF-8
};

struct ProcessOwner {
  std::uint32_t userId = 0;
  std::string name;
};

// All processes at one moment, by ascending number.
struct ProcessReading {
  ClockReading clock;
  // CPU time of the thread that made the reading, or more where the system counts it too coarsely.
  std::int64_t spentNs = 0;
  std::uint32_t ticksPerSecond = 100;
  // The ticks of all processors since boot, idle included.
  std::optional<std::uint64_t> machineTicks;
  bool hasDisks = false;  // whether the processes were asked for their disk counters, and answered
  std::vector<ProcessCounters> processes;
  std::vector<ProcessOwner>
      owners;  // owners of `processes` that have a name; empty in readings without owners
};

// Details that need a separate question per process.
struct ProcessDetails {
  ProcessCounters counters;
  std::optional<std::string> owner;
  std::optional<std::string> path;  // of the program; readable, like what follows, by its owner and root only
  std::optional<std::string> folder;
  std::optional<std::uint32_t> openFiles;
  std::vector<std::string> command;  // empty: a kernel thread, or hidden
};

class ProcessReader {
 public:
  explicit ProcessReader(const Roots& roots);
  ~ProcessReader();
  ProcessReader(const ProcessReader&) = delete;
  ProcessReader& operator=(const ProcessReader&) = delete;

  struct State;
  // Returns the last reading of the reader's own thread, without owners, however old; nothing before the
  // first one, or when the last one failed. Never waits.
  std::shared_ptr<const ProcessReading> latest();
  // Makes that thread read `delay` from now, instead of at an earlier request that has not begun.
  void ask(std::chrono::milliseconds delay);
  // Makes the next reading of that thread include disk I/O per process: on Linux that takes almost as long as
  // the reading itself.
  void includeDisks();

  // For other threads, which may outlive the reader. May take 100 ms and more. Throws HostError.
  std::shared_ptr<State> state() const { return state_; }
  // `hasDisks`: includes disk I/O, at the same cost as `includeDisks`.
  static ProcessReading read(State& state, bool hasDisks);
  // Returns the rows of `hostwire doctor`: the list, and whether processes can be acted on. Never throws.
  static Findings describe(State& state);
  static std::optional<ProcessDetails> readDetails(State& state, std::int32_t pid);
  // Returns the programs' paths, in the order of `processes`; nothing where one is hidden or the process has
  // ended.
  static std::vector<std::optional<std::string>> readPaths(State& state,
                                                           std::span<const ProcessId> processes);

 private:
  std::shared_ptr<State> state_;
};

// Returns why processes seen through `roots` cannot be acted on; nothing when they can.
std::optional<Obstacle> whyNoProcessControl(const Roots& roots);

enum class EndSignal { kTerminate, kKill, kStop, kContinue };

enum class SignalOutcome {
  kSent,
  kGone,    // it has ended, or its number has been reused
  kDenied,  // this service's user lacks the right
};

// Never reaches another process that has the same number. Throws HostError (ENOSYS before Linux 5.3).
SignalOutcome signalProcess(const ProcessId& process, EndSignal signal);

// Waits until all have ended, for at most `timeout`; returns for each whether it has. Throws HostError.
std::vector<bool> waitForEnd(std::span<const ProcessId> processes, std::chrono::milliseconds timeout);

struct LaunchOptions {
  std::string program;                   // an absolute path
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // NAME=value, added to the service's own
  std::optional<std::string> folder;
};

// Starts a program in a session of its own, which inherits nothing of the service but its environment;
// returns its number. May wait, so it must not run on the JavaScript thread. Throws HostError, and then
// nothing was started.
std::int32_t launchProcess(const LaunchOptions& options);

}  // namespace hostwire
