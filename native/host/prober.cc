// The public half of the probers.
#include "host/prober.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "host/prober_state.h"

namespace hostwire {

using std::chrono::milliseconds;

ProberPool::ProberPool() : state_(std::make_shared<State>()) {}

ProberPool::~ProberPool() {
  // Questions are released without the lock, because they may hold probers of this pool.
  std::vector<State::Task> released;
  {
    const std::lock_guard lock(state_->mutex);
    state_->isClosed = true;
    released.swap(state_->tasks);
    state_->roundDue.notify_all();
    state_->answered.notify_all();
  }
  // One at a time: swapping with another deque would need memory.
  for (bool isEmpty = false; !isEmpty;) {
    State::Task queued;
    const std::lock_guard lock(state_->mutex);
    isEmpty = state_->queue.empty();
    if (isEmpty) continue;
    queued = std::move(state_->queue.front());
    state_->queue.pop_front();
  }
}

void ProberPool::askAll(milliseconds delay) { hostwire::askAll(state_, delay); }

void askAll(const ProberPoolState& pool, milliseconds delay) {
  ProberPool::State& state = *pool;
  const std::lock_guard lock(state.mutex);
  if (state.isClosed || state.wantedCount == 0) return;
  const auto now = ProbeClock::now();
  const auto at = now + delay;
  state.noteIntervalLocked(at);
  state.replaceHungServerLocked();
  if (state.isAnyDueLocked(at)) {
    // On a busy machine the thread may not have run since a round became due: it stays due, or readings could
    // postpone it forever.
    if (!state.roundAt || *state.roundAt > now) state.roundAt = at;
  } else {
    state.unwantAllLocked();
  }
  if (!state.roundAt && state.queue.empty()) return;
  if (state.server == 0) {
    state.startServerLocked();
  } else if (state.roundAt && state.wakesAt > *state.roundAt + kLeeway) {
    state.wakesAt = *state.roundAt;
    state.roundDue.notify_one();
  }
}

bool ProberPool::awaitsFirstAnswers() const {
  const std::lock_guard lock(state_->mutex);
  return std::any_of(state_->tasks.begin(), state_->tasks.end(), [](const State::Task& task) {
    return !task->hasFinished && (task->isWanted || task->phase != ProbeTask::Phase::kIdle);
  });
}

std::size_t ProberPool::stuckCount() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stuckCount;
}

ProberHandle::ProberHandle(ProberPoolState pool, std::function<void()> ask, milliseconds leastAge)
    : task_(std::make_shared<ProbeTask>(std::move(pool), std::move(ask), leastAge)) {
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
  std::swap(task_, taken.task_);  // its destructor retires the old task
  return *this;
}

ProberHandle::Status ProberHandle::consult() const {
  const std::lock_guard lock(task_->pool->mutex);
  const auto now = ProbeClock::now();
  task_->pool->wantLocked(*task_);
  Status status;
  status.hasAnswered = task_->hasAnswered;
  if (task_->hasAnswered) status.age = std::chrono::duration_cast<milliseconds>(now - task_->answeredAt);
  const bool isUnanswered = task_->phase != ProbeTask::Phase::kIdle;
  // Stuck means stale immediately, except for questions known to be slow, which would be stale half the time.
  const bool isStuck = task_->phase == ProbeTask::Phase::kStuck && task_->quickNeeded == 1;
  const bool isLate = isStuck || !task_->hasFinished || now - task_->askedAt > kStaleAfter;
  status.isStale = task_->isRefused || (isUnanswered && isLate);
  status.error = task_->error;
  return status;
}

}  // namespace hostwire
