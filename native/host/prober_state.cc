// The threads behind the probers: one asks all trusted questions in turn; questions that are not trusted are
// asked on separate threads, which may get stuck without delaying the others.
#include "host/prober_state.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "host/thread.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// A question that takes longer is stuck or slow, and gets a thread of its own.
constexpr milliseconds kPatience{50};
// Maximum number of questions asked at the same time on separate threads: 64 hung ones are found in 200 ms,
// in bursts of 16 threads.
constexpr std::size_t kBatch = 16;
// Maximum number of stuck threads for questions that are not trusted. Each costs about 10 KB.
constexpr std::size_t kMaxStuck = 64;
// Maximum including questions that used to answer: losing the serving thread to one of them costs one more
// thread, but keeping it there would leave every other question unanswered.
constexpr std::size_t kMaxStuckInAll = kMaxStuck + 8;
// Number of quick answers in a row that make a question trusted again after a slow one.
constexpr unsigned kQuickAnswersNeeded = 16;

// Time that the serving thread waits when memory is exhausted.
constexpr milliseconds kBreath{20};

// Empty when there is no memory for the text.
std::string wordsOf(const std::exception& failure) noexcept {
  try {
    return failure.what();
  } catch (...) {
    return {};
  }
}

}  // namespace

void ProberPool::State::wantLocked(ProbeTask& task) {
  if (task.isWanted) return;
  task.isWanted = true;
  ++wantedCount;
}

void ProberPool::State::unwantLocked(ProbeTask& task) {
  if (!task.isWanted) return;
  task.isWanted = false;
  --wantedCount;
}

void ProberPool::State::noteIntervalLocked(ProbeClock::time_point at) {
  if (lastRequestedAt != ProbeClock::time_point{}) interval = at - lastRequestedAt;
  lastRequestedAt = at;
}

bool ProberPool::State::isAnyDueLocked(ProbeClock::time_point at) const {
  return std::any_of(tasks.begin(), tasks.end(), [at](const Task& task) {
    return task->isWanted && task->phase != ProbeTask::Phase::kStuck && !task->isFresh(at);
  });
}

void ProberPool::State::unwantAllLocked() {
  for (const Task& task : tasks)
    if (task->phase != ProbeTask::Phase::kStuck) unwantLocked(*task);
}

// Asks without the lock and records the outcome. The caller has set the phase.
void ProberPool::State::askLocked(Lock& lock, const Task& task) {
  lock.unlock();
  bool isAnswer = true;
  std::string error;
  try {
    task->ask();
  } catch (const std::exception& failure) {
    isAnswer = false;
    error = wordsOf(failure);
  } catch (...) {
    isAnswer = false;
  }
  if (!isAnswer && error.empty())
    error = "unknown failure";  // short enough to be stored without an allocation
  lock.lock();
  const auto now = ProbeClock::now();
  if (task->phase == ProbeTask::Phase::kStuck) --stuckCount;
  task->phase = ProbeTask::Phase::kIdle;
  task->hasFinished = true;
  task->error = std::move(error);
  if (isAnswer) {
    task->hasAnswered = true;
    task->answeredAt = now;
  }
  if (now - task->startedAt > kPatience) {
    task->quickInARow = 0;
    task->quickNeeded = kQuickAnswersNeeded;
  } else if (!task->isTrusted() && ++task->quickInARow >= task->quickNeeded) {
    task->quickNeeded = 1;
  }
}

void ProberPool::State::startClockLocked(ProbeTask& task) {
  task.phase = ProbeTask::Phase::kAsked;
  task.isRefused = false;
  task.startedAt = ProbeClock::now();
}

void ProberPool::State::markStuckLocked(ProbeTask& task) {
  task.phase = ProbeTask::Phase::kStuck;
  task.quickInARow = 0;
  ++stuckCount;
  isStuckFound = true;
}

void ProberPool::State::refuseLocked(ProbeTask& task) {
  task.phase = ProbeTask::Phase::kIdle;
  task.isRefused = true;
}

bool ProberPool::State::startServerLocked() {
  server = ++lastServer;
  wakesAt = ProbeClock::time_point::min();
  try {
    if (startThread([self = shared_from_this(), me = server] { self->serve(me); })) return true;
  } catch (const std::bad_alloc&) {
    // treated like a missing thread: the next askAll tries again
  }
  server = 0;
  return false;
}

void ProberPool::State::replaceHungServerLocked() {
  if (current == nullptr || ProbeClock::now() - current->startedAt <= kPatience) return;
  if (stuckCount >= kMaxStuckInAll) return;
  markStuckLocked(*current);
  current.reset();
  isCautious = true;
  server = 0;
}

void ProberPool::State::serve(std::uint64_t me) {
  std::vector<Task> done;  // released without the lock: the end of a question may run anything
  Lock lock(mutex);
  while (isServingLocked(me)) {
    try {
      if (queue.empty()) {
        waitForRoundLocked(lock);
      } else if (mustBeAloneLocked(*queue.front())) {
        askBatchLocked(lock, done);
      } else {
        askFrontLocked(lock, done, me);
      }
    } catch (const std::bad_alloc&) {
      // Nothing has been asked yet: the rest of the round is asked when memory is available.
      answered.wait_for(lock, kBreath);
    }
    if (!queue.empty() || !isServingLocked(me)) continue;
    endRoundLocked();
    lock.unlock();
    done.clear();
    lock.lock();
  }
}

// Rounds are requested at regular intervals, so the thread wakes on its own for the first one in which a
// question is due, and askAll() need not wake it only to set another time. If no round was requested, it
// sleeps until it is notified.
void ProberPool::State::planWakeUpLocked(ProbeClock::time_point due, ProbeClock::time_point nextDue) {
  wakesAt = ProbeClock::time_point::max();
  if (interval <= ProbeClock::duration{0} || nextDue == ProbeClock::time_point::max()) return;
  const auto intervals =
      std::max<ProbeClock::rep>(1, (nextDue - due + interval - ProbeClock::duration{1}) / interval);
  wakesAt = due + intervals * interval + kLeeway / 2;
}

void ProberPool::State::waitForRoundLocked(Lock& lock) {
  if (wakesAt == ProbeClock::time_point::min()) wakesAt = roundAt.value_or(ProbeClock::time_point::max());
  while (!isClosed && !(roundAt && ProbeClock::now() + kLeeway >= *roundAt)) {
    if (roundAt && (wakesAt > *roundAt + kLeeway || wakesAt <= ProbeClock::now())) wakesAt = *roundAt;
    if (!roundAt && wakesAt <= ProbeClock::now()) wakesAt = ProbeClock::time_point::max();
    if (wakesAt == ProbeClock::time_point::max()) {
      roundDue.wait(lock);
    } else {
      roundDue.wait_until(lock, wakesAt);
    }
  }
  if (!isClosed) beginRoundLocked();
}

void ProberPool::State::beginRoundLocked() {
  const auto due = *roundAt;
  roundAt.reset();
  const auto now = ProbeClock::now();
  auto nextDue = ProbeClock::time_point::max();
  for (const Task& task : tasks) {
    if (!task->isWanted || task->phase != ProbeTask::Phase::kIdle) continue;
    if (!task->isFresh(due)) {
      queue.push_back(task);  // first: without memory the question stays wanted
      task->phase = ProbeTask::Phase::kQueued;
      task->askedAt = now;
    }
    unwantLocked(*task);
    nextDue = std::min(nextDue, task->freshUntil());
  }
  planWakeUpLocked(due, nextDue);
  // Trusted questions do not wait for the others.
  std::stable_partition(queue.begin(), queue.end(),
                        [](const Task& task) { return task->isTrusted() && !task->isRefused; });
}

void ProberPool::State::endRoundLocked() {
  isCautious = isCautious && isStuckFound;
  isStuckFound = false;
}

std::size_t ProberPool::State::roomLocked() const {
  return stuckCount < kMaxStuck ? kMaxStuck - stuckCount : 0;
}

// While no more stuck threads are allowed, and the trouble is not just beginning, only questions that
// returned when last asked are asked in turn; the others are refused.
bool ProberPool::State::mustBeAloneLocked(const ProbeTask& task) const {
  if (roomLocked() == 0 && !isStuckFound) return task.isRefused || !task.hasFinished;
  return isCautious || task.isRefused || !task.isTrusted();
}

const ProberPool::State::Task& ProberPool::State::takeFrontLocked(std::vector<Task>& done) {
  done.push_back(std::move(queue.front()));
  queue.pop_front();
  return done.back();
}

void ProberPool::State::askFrontLocked(Lock& lock, std::vector<Task>& done, std::uint64_t me) {
  const Task& task = takeFrontLocked(done);
  if (task->isRetired) return;
  startClockLocked(*task);
  current = task;
  askLocked(lock, task);
  if (server == me) current.reset();
}

void ProberPool::State::askBatchLocked(Lock& lock, std::vector<Task>& done) {
  const std::size_t limit = std::min(kBatch, roomLocked());
  if (limit == 0) refuseLocked(*takeFrontLocked(done));
  std::vector<ProbeTask*> batch;
  batch.reserve(limit);
  while (!queue.empty() && batch.size() < limit) {
    const Task& task = takeFrontLocked(done);
    if (task->isRetired) continue;
    if (startLoneLocked(task)) {
      batch.push_back(task.get());
    } else {
      refuseLocked(*task);
    }
  }
  const auto isAsked = [](const ProbeTask* task) { return task->phase == ProbeTask::Phase::kAsked; };
  answered.wait_until(lock, ProbeClock::now() + kPatience,
                      [&] { return isClosed || std::none_of(batch.begin(), batch.end(), isAsked); });
  for (ProbeTask* task : batch)
    if (isAsked(task)) markStuckLocked(*task);
}

bool ProberPool::State::startLoneLocked(const Task& task) {
  startClockLocked(*task);
  try {
    return startThread([self = shared_from_this(), task] {
      Lock lock(self->mutex);
      self->askLocked(lock, task);
      self->answered.notify_all();
    });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace hostwire
