// Command lines, read on a thread that nobody waits for.
#include "linux/process/names.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/thread.h"
#include "linux/process/files.h"
#include "linux/process/parse_process.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCutBytes = 15;
// A longer read hangs: the thread is abandoned to it, and another one continues.
constexpr std::chrono::milliseconds kPatience{200};
// When this many hang, no more names are looked up. Each keeps a small thread.
constexpr std::size_t kMaxStuck = 4;
// Of a command line: the first argument ends before that.
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
  std::condition_variable changed;
  const std::string proc;
  std::unordered_map<std::int32_t, Known> known;
  std::deque<ProcessCounters> wanted;
  std::uint64_t worker = 0;  // the number of the thread that reads; 0 when there is none
  std::uint64_t lastWorker = 0;
  std::optional<Clock::time_point> askedAt;  // since when it has been reading the current one
  std::size_t stuckCount = 0;
  bool isClosed = false;

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
  auto head = readProcessFile(folder, process.id.pid, "/cmdline", buffer);
  if (head && head->empty()) {
    const std::string living = findLivingFolder(folder, process.id.pid);
    if (!living.empty()) head = readProcessFile(folder, process.id.pid, living + "/cmdline", buffer);
  }
  return std::string(head ? fullProcessName(process.name, *head) : std::string_view(process.name));
}

// Reads what is wanted, then ends. An abandoned thread reports when it comes back, and ends too.
void work(const std::shared_ptr<State>& state, std::uint64_t me) {
  FileDescriptor folder;
  std::unique_lock lock(state->mutex);
  while (!state->isClosed && state->worker == me && !state->wanted.empty()) {
    const ProcessCounters process = std::move(state->wanted.front());
    state->wanted.pop_front();
    state->askedAt = Clock::now();
    lock.unlock();
    std::string full = process.name;
    try {
      if (!folder.isOpen()) folder = openProcFolder(state->proc);
      full = readFullName(folder.get(), process);
    } catch (const std::exception&) {
      // The cut name stays.
    }
    lock.lock();
    state->note(process, std::move(full));
    if (state->worker != me) --state->stuckCount;
  }
  if (state->worker == me) {
    state->worker = 0;
    state->askedAt.reset();
  }
  state->changed.notify_all();
}

void giveUpStuckLocked(State& state) {
  if (state.worker == 0 || !state.askedAt || Clock::now() - *state.askedAt < kPatience) return;
  state.worker = 0;
  state.askedAt.reset();
  ++state.stuckCount;
}

void startWorkerLocked(const std::shared_ptr<State>& state) {
  if (state->stuckCount >= kMaxStuck) state->wanted.clear();
  if (state->worker != 0 || state->wanted.empty()) return;
  state->worker = ++state->lastWorker;
  if (!startThread([state, me = state->worker] { work(state, me); })) state->worker = 0;
}

}  // namespace

FullNames::FullNames(const std::string& proc) : state_(std::make_shared<State>(proc)) {}

FullNames::~FullNames() {
  const std::lock_guard lock(state_->mutex);
  state_->isClosed = true;
  state_->wanted.clear();
}

void FullNames::complete(std::vector<ProcessCounters>& processes, std::chrono::milliseconds patience) {
  std::vector<ProcessCounters*> cut;
  for (ProcessCounters& process : processes)
    if (mayBeCut(process)) cut.push_back(&process);
  State& state = *state_;
  std::unique_lock lock(state.mutex);
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
  const auto deadline = Clock::now() + patience;
  giveUpStuckLocked(state);
  startWorkerLocked(state_);
  state.changed.wait_until(lock, deadline, [&] { return state.worker == 0; });
  for (ProcessCounters* process : cut) {
    const auto found = state.known.find(process->id.pid);
    if (found != state.known.end() && found->second.full) process->name = *found->second.full;
  }
}

}  // namespace hostwire
