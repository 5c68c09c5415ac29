// The threads behind the probers: one asks all in turn, and what is not to be trusted is asked on a thread of
// its own, which may stay stuck there without holding up anything else.
#include "host/prober.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <vector>

#include "host/thread.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A question that takes longer is stuck, or slow: it gets a thread of its own.
constexpr milliseconds kPatience{50};
// An answer that is late by more makes the value stale, even that of a question known to be slow.
constexpr milliseconds kStaleAfter{1000};
// Questions asked at once on threads of their own: 64 hung ones are found in 200 ms, in a burst of 16
// threads.
constexpr std::size_t kBatch = 16;
// Stuck threads that questions not to be trusted may hold. Each costs about 10 KB.
constexpr std::size_t kMostStuck = 64;
// And those held by questions that used to answer: giving up the serving thread to one of them costs one more
// thread, but not giving it up would leave every other question unanswered.
constexpr std::size_t kMostStuckInAll = kMostStuck + 8;
// After a slow answer so many quick ones in a row earn a place with the serving thread again.
constexpr unsigned kQuickAnswersNeeded = 16;
// Rounds may begin so much early or late: it saves a wake-up a round (see planWakeUp).
constexpr milliseconds kLeeway{10};

}  // namespace

// One question. All but the constants is guarded by the pool's mutex.
class ProbeTask {
 public:
  enum class Phase { kIdle, kQueued, kAsked, kStuck };

  ProbeTask(std::shared_ptr<ProberPool::State> owner, std::function<void()> question)
      : pool(std::move(owner)), ask(std::move(question)) {}

  bool isTrusted() const { return quickInARow >= quickNeeded; }

  const std::shared_ptr<ProberPool::State> pool;
  const std::function<void()> ask;
  Phase phase = Phase::kIdle;
  bool isWanted = false;     // consulted since it was last asked
  bool isRetired = false;    // its handle is gone
  bool isRefused = false;    // could not be asked, for want of a thread
  bool hasFinished = false;  // returned at least once, be it with an error
  bool hasAnswered = false;
  unsigned quickInARow = 0;
  unsigned quickNeeded = 1;
  Clock::time_point askedAt;
  Clock::time_point startedAt;
  Clock::time_point answeredAt;
  std::string error;
};

// The functions whose names end in Locked are called with `mutex` held.
struct ProberPool::State : std::enable_shared_from_this<ProberPool::State> {
  using Lock = std::unique_lock<std::mutex>;
  using Task = std::shared_ptr<ProbeTask>;

  mutable std::mutex mutex;
  std::condition_variable roundDue;  // only the serving thread waits here
  std::condition_variable answered;  // and here, for a batch
  std::vector<Task> tasks;
  std::deque<Task> queue;  // what is left of the round that runs
  std::optional<Clock::time_point> roundAt;
  Clock::time_point lastRoundAt;  // when the last one was due
  Clock::time_point wakesAt;      // when the serving thread, waiting, wakes by itself
  std::uint64_t server = 0;       // the number of the serving thread; 0 when there is none
  std::uint64_t lastServer = 0;
  Task current;  // what the serving thread is asking itself
  std::size_t wantedCount = 0;
  std::size_t stuckCount = 0;
  bool isCautious = false;    // every question gets a thread of its own
  bool isStuckFound = false;  // in the round that runs
  bool isClosed = false;

  void wantLocked(ProbeTask& task) {
    if (task.isWanted) return;
    task.isWanted = true;
    ++wantedCount;
  }
  void unwantLocked(ProbeTask& task) {
    if (!task.isWanted) return;
    task.isWanted = false;
    --wantedCount;
  }

  // Asks without the lock and notes how it went. The caller has set the phase.
  void askUnlocked(const Task& task, Lock& lock) {
    lock.unlock();
    bool isAnswer = true;
    std::string error;
    try {
      task->ask();
    } catch (const std::exception& failure) {
      isAnswer = false;
      error = failure.what();
    } catch (...) {
      isAnswer = false;
    }
    if (!isAnswer && error.empty()) error = "unknown failure";
    lock.lock();
    const auto now = Clock::now();
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

  void startClockLocked(ProbeTask& task) {
    task.phase = ProbeTask::Phase::kAsked;
    task.isRefused = false;
    task.startedAt = Clock::now();
  }

  void markStuckLocked(ProbeTask& task) {
    task.phase = ProbeTask::Phase::kStuck;
    task.quickInARow = 0;
    ++stuckCount;
    isStuckFound = true;
  }

  void refuseLocked(ProbeTask& task) {
    task.phase = ProbeTask::Phase::kIdle;
    task.isRefused = true;
  }

  bool isServingLocked(std::uint64_t me) const { return !isClosed && server == me; }

  bool startServerLocked() {
    server = ++lastServer;
    wakesAt = Clock::time_point::min();
    if (startThread([self = shared_from_this(), me = server] { self->serve(me); })) return true;
    server = 0;
    return false;
  }

  // The serving thread has been in one question for too long: it is left to it, and another one takes over
  // what is left of the round, with caution, because what hangs seldom hangs alone.
  void replaceHungServerLocked() {
    if (current == nullptr || Clock::now() - current->startedAt <= kPatience) return;
    if (stuckCount >= kMostStuckInAll) return;
    markStuckLocked(*current);
    current.reset();
    isCautious = true;
    server = 0;
  }

  void serve(std::uint64_t me) {
    std::vector<Task> done;  // let go without the lock: a question's end may run anything
    Lock lock(mutex);
    while (isServingLocked(me)) {
      if (queue.empty()) {
        waitForRoundLocked(lock);
      } else if (mustBeAloneLocked(*queue.front())) {
        askBatchLocked(lock, done);
      } else {
        askFrontLocked(lock, done, me);
      }
      if (!queue.empty() || !isServingLocked(me)) continue;
      endRoundLocked();
      lock.unlock();
      done.clear();
      lock.lock();
    }
  }

  // Rounds come at regular intervals, so the thread wakes by itself when the next one is likely and askAll()
  // need not wake it only to tell it when to wake again. When none came it sleeps until it is told.
  void planWakeUpLocked(Clock::time_point due) {
    wakesAt = due + (due - lastRoundAt) + kLeeway / 2;
    if (lastRoundAt == Clock::time_point{}) wakesAt = Clock::time_point::max();
    lastRoundAt = due;
  }

  void waitForRoundLocked(Lock& lock) {
    if (wakesAt == Clock::time_point::min()) wakesAt = roundAt.value_or(Clock::time_point::max());
    while (!isClosed && !(roundAt && Clock::now() + kLeeway >= *roundAt)) {
      if (roundAt && (wakesAt > *roundAt + kLeeway || wakesAt <= Clock::now())) wakesAt = *roundAt;
      if (!roundAt && wakesAt <= Clock::now()) wakesAt = Clock::time_point::max();
      if (wakesAt == Clock::time_point::max()) {
        roundDue.wait(lock);
      } else {
        roundDue.wait_until(lock, wakesAt);
      }
    }
    if (!isClosed) beginRoundLocked();
  }

  void beginRoundLocked() {
    planWakeUpLocked(*roundAt);
    roundAt.reset();
    const auto now = Clock::now();
    for (const Task& task : tasks) {
      if (!task->isWanted || task->phase != ProbeTask::Phase::kIdle) continue;
      unwantLocked(*task);
      task->phase = ProbeTask::Phase::kQueued;
      task->askedAt = now;
      queue.push_back(task);
    }
    // Those that answer at once do not wait for the others.
    std::stable_partition(queue.begin(), queue.end(),
                          [](const Task& task) { return task->isTrusted() && !task->isRefused; });
  }

  void endRoundLocked() {
    isCautious = isCautious && isStuckFound;
    isStuckFound = false;
  }

  std::size_t roomLocked() const { return stuckCount < kMostStuck ? kMostStuck - stuckCount : 0; }

  // When there is no room for more stuck threads, and the trouble is not just beginning, those are asked in
  // turn that returned when last asked; the others are refused.
  bool mustBeAloneLocked(const ProbeTask& task) const {
    if (roomLocked() == 0 && !isStuckFound) return task.isRefused || !task.hasFinished;
    return isCautious || task.isRefused || !task.isTrusted();
  }

  const Task& takeFrontLocked(std::vector<Task>& done) {
    done.push_back(std::move(queue.front()));
    queue.pop_front();
    return done.back();
  }

  void askFrontLocked(Lock& lock, std::vector<Task>& done, std::uint64_t me) {
    const Task& task = takeFrontLocked(done);
    if (task->isRetired) return;
    startClockLocked(*task);
    current = task;
    askUnlocked(task, lock);
    if (server == me) current.reset();
  }

  void askBatchLocked(Lock& lock, std::vector<Task>& done) {
    const std::size_t most = std::min(kBatch, roomLocked());
    if (most == 0) refuseLocked(*takeFrontLocked(done));
    std::vector<ProbeTask*> batch;
    while (!queue.empty() && batch.size() < most) {
      const Task& task = takeFrontLocked(done);
      if (task->isRetired) continue;
      if (startLoneLocked(task)) {
        batch.push_back(task.get());
      } else {
        refuseLocked(*task);
      }
    }
    const auto isAsked = [](const ProbeTask* task) { return task->phase == ProbeTask::Phase::kAsked; };
    answered.wait_until(lock, Clock::now() + kPatience,
                        [&] { return isClosed || std::none_of(batch.begin(), batch.end(), isAsked); });
    for (ProbeTask* task : batch)
      if (isAsked(task)) markStuckLocked(*task);
  }

  bool startLoneLocked(const Task& task) {
    startClockLocked(*task);
    return startThread([self = shared_from_this(), task] {
      Lock lock(self->mutex);
      self->askUnlocked(task, lock);
      self->answered.notify_all();
    });
  }
};

ProberPool::ProberPool() : state_(std::make_shared<State>()) {}

ProberPool::~ProberPool() {
  std::vector<State::Task> released;
  const std::lock_guard lock(state_->mutex);
  state_->isClosed = true;
  released.swap(state_->tasks);
  state_->queue.clear();
  state_->roundDue.notify_all();
  state_->answered.notify_all();
}

void ProberPool::askAll(milliseconds delay) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.isClosed || state.wantedCount == 0) return;
  state.roundAt = Clock::now() + delay;
  state.replaceHungServerLocked();
  if (state.server == 0) {
    state.startServerLocked();
  } else if (state.wakesAt > *state.roundAt + kLeeway) {
    state.wakesAt = *state.roundAt;
    state.roundDue.notify_one();
  }
}

std::size_t ProberPool::stuckCount() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stuckCount;
}

ProberHandle::ProberHandle(ProberPool& pool, std::function<void()> ask)
    : task_(std::make_shared<ProbeTask>(pool.state(), std::move(ask))) {
  const std::lock_guard lock(task_->pool->mutex);
  if (!task_->pool->isClosed) task_->pool->tasks.push_back(task_);
}

ProberHandle::~ProberHandle() {
  if (task_ == nullptr) return;
  ProberPool::State& pool = *task_->pool;
  const std::lock_guard lock(pool.mutex);
  task_->isRetired = true;
  pool.unwantLocked(*task_);
  std::erase(pool.tasks, task_);
}

ProberHandle::ProberHandle(ProberHandle&&) noexcept = default;

ProberHandle& ProberHandle::operator=(ProberHandle&& other) noexcept {
  ProberHandle taken(std::move(other));
  std::swap(task_, taken.task_);  // whose destructor retires what was here
  return *this;
}

ProberHandle::Status ProberHandle::consult() const {
  const std::lock_guard lock(task_->pool->mutex);
  task_->pool->wantLocked(*task_);
  const auto now = Clock::now();
  Status status;
  status.hasAnswered = task_->hasAnswered;
  if (task_->hasAnswered) status.age = std::chrono::duration_cast<milliseconds>(now - task_->answeredAt);
  const bool isUnanswered = task_->phase != ProbeTask::Phase::kIdle;
  // Stuck is stale at once, but for those known to be slow: they would be so every other time.
  const bool isStuck = task_->phase == ProbeTask::Phase::kStuck && task_->quickNeeded == 1;
  const bool isLate = isStuck || !task_->hasFinished || now - task_->askedAt > kStaleAfter;
  status.isStale = task_->isRefused || (isUnanswered && isLate);
  status.error = task_->error;
  return status;
}

}  // namespace hostwire
