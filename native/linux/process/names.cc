// Command lines, read by detached tasks with a limit.
#include "linux/process/names.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/ask_within.h"
#include "linux/process/files.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

constexpr std::size_t kCutBytes = 15;
// Number of hanging readers at which no more names are looked up. Each keeps a small thread.
constexpr std::size_t kMaxReaders = 4;
// Bytes read of a command line: the first argument ends before that.
constexpr std::size_t kHeadBytes = 4096;

bool mayBeCut(const ProcessCounters& process) {
  return process.name.size() == kCutBytes && !process.isKernelThread;
}

}  // namespace

struct FullNames::State {
  struct Known {
    std::uint64_t startTicks = 0;
    std::string cut;
    std::optional<std::string> full;  // nothing while it is being read
  };

  std::mutex mutex;
  const std::string proc;
  std::unordered_map<std::int32_t, Known> known;
  std::deque<ProcessCounters> wanted;
  std::size_t readers = 0;  // threads, including those that hang

  explicit State(std::string givenProc) : proc(std::move(givenProc)) {}

  void note(const ProcessCounters& process, std::string full) {
    const auto found = known.find(process.id.pid);
    if (found == known.end() || found->second.startTicks != process.id.startTicks) return;
    if (found->second.cut == process.name) found->second.full = std::move(full);
  }
};

namespace {

using State = FullNames::State;

std::string readFullName(int folder, const ProcessCounters& process) {
  std::array<char, kHeadBytes> buffer;
  const std::string living = findLivingFolder(folder, process.id.pid);
  const auto program = readProcessLink(folder, process.id.pid, living + "/exe");
  const auto head = readProcessFile(folder, process.id.pid, living + "/cmdline", buffer);
  return std::string(fullProcessName(process.name, program.value_or(""), head.value_or("")));
}

// Reads until no name is wanted. A reader that hangs leaves the rest to the next one.
bool readWanted(State& state) {
  FileDescriptor folder;
  std::unique_lock lock(state.mutex);
  ++state.readers;
  while (!state.wanted.empty()) {
    const ProcessCounters process = std::move(state.wanted.front());
    state.wanted.pop_front();
    lock.unlock();
    std::string full = process.name;
    try {
      if (!folder.isOpen()) folder = openProcFolder(state.proc);
      full = readFullName(folder.get(), process);
    } catch (const std::exception&) {
      // The cut name stays.
    }
    lock.lock();
    state.note(process, std::move(full));
  }
  --state.readers;
  return true;
}

// Forgets names that no reader has reached: the next reading wants them again, unless the process has ended.
void forgetWantedLocked(State& state) {
  for (const ProcessCounters& process : state.wanted) state.known.erase(process.id.pid);
  state.wanted.clear();
}

}  // namespace

FullNames::FullNames(const std::string& proc) : state_(std::make_shared<State>(proc)) {}

FullNames::~FullNames() {
  const std::lock_guard lock(state_->mutex);
  state_->wanted.clear();
}

void FullNames::complete(std::vector<ProcessCounters>& processes, std::chrono::milliseconds patience) {
  std::vector<ProcessCounters*> cut;
  for (ProcessCounters& process : processes)
    if (mayBeCut(process)) cut.push_back(&process);
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  forgetWantedLocked(state);
  decltype(state.known) known;
  for (const ProcessCounters* process : cut) {
    const auto found = state.known.find(process->id.pid);
    const bool isKnown = found != state.known.end() && found->second.startTicks == process->id.startTicks &&
                         found->second.cut == process->name;
    if (isKnown) {
      known.emplace(process->id.pid, std::move(found->second));
    } else {
      known.emplace(process->id.pid, State::Known{process->id.startTicks, process->name, std::nullopt});
      state.wanted.push_back(*process);
    }
  }
  state.known = std::move(known);  // ended processes are forgotten
  if (!state.wanted.empty() && state.readers < kMaxReaders) {
    lock.unlock();
    askWithin<bool>(patience, [kept = state_] { return readWanted(*kept); });
    lock.lock();
  }
  for (ProcessCounters* process : cut) {
    const auto found = state.known.find(process->id.pid);
    if (found != state.known.end() && found->second.full) process->name = *found->second.full;
  }
}

}  // namespace hostwire
