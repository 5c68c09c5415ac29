// State shared by the threads behind the probers. Only prober.cc and prober_state.cc include it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/prober.h"

namespace hostwire {

using ProbeClock = std::chrono::steady_clock;

// Age beyond which an answer is stale, even for a question known to be slow.
constexpr std::chrono::milliseconds kStaleAfter{1000};
// Tolerance for the start of a round: it saves one wake-up per round (see planWakeUpLocked).
constexpr std::chrono::milliseconds kLeeway{10};

// One question. All but the constants is guarded by the pool's mutex.
class ProbeTask {
 public:
  enum class Phase { kIdle, kQueued, kAsked, kStuck };

  ProbeTask(std::shared_ptr<ProberPool::State> owner, std::function<void()> question,
            std::chrono::milliseconds least)
      : pool(std::move(owner)), ask(std::move(question)), leastAge(least) {}

  bool isTrusted() const { return quickInARow >= quickNeeded; }
  // When it is due again. A tenth early: a least age that is a multiple of the interval must not become one
  // interval more when the thread woke late the last time and on time now.
  ProbeClock::time_point freshUntil() const { return askedAt + leastAge - leastAge / 10; }
  bool isFresh(ProbeClock::time_point at) const { return hasFinished && !isRefused && at < freshUntil(); }

  const std::shared_ptr<ProberPool::State> pool;
  const std::function<void()> ask;
  const std::chrono::milliseconds leastAge;
  Phase phase = Phase::kIdle;
  bool isWanted = false;     // consulted since it was last asked
  bool isRetired = false;    // its handle is gone
  bool isRefused = false;    // could not be asked, because no thread was available
  bool hasFinished = false;  // returned at least once, possibly with an error
  bool hasAnswered = false;
  unsigned quickInARow = 0;
  unsigned quickNeeded = 1;
  ProbeClock::time_point askedAt;
  ProbeClock::time_point startedAt;
  ProbeClock::time_point answeredAt;
  std::string error;
};

// Functions whose names end in Locked are called with `mutex` held; those that take the lock may release it
// temporarily.
struct ProberPool::State : std::enable_shared_from_this<ProberPool::State> {
  using Lock = std::unique_lock<std::mutex>;
  using Task = std::shared_ptr<ProbeTask>;

  mutable std::mutex mutex;
  std::condition_variable roundDue;  // only the serving thread waits here
  std::condition_variable answered;  // and here, while a batch is asked
  std::vector<Task> tasks;
  std::deque<Task> queue;  // the rest of the current round
  std::optional<ProbeClock::time_point> roundAt;
  ProbeClock::time_point lastRequestedAt;  // the time of the last requested round, due or not
  ProbeClock::duration interval{0};        // between the last two; 0 before the second
  ProbeClock::time_point wakesAt;          // when the waiting serving thread wakes on its own
  std::uint64_t server = 0;                // the number of the serving thread; 0 without one
  std::uint64_t lastServer = 0;
  Task current;  // the question that the serving thread is asking
  std::size_t wantedCount = 0;
  std::size_t stuckCount = 0;
  bool isCautious = false;    // every question gets a thread of its own
  bool isStuckFound = false;  // in the current round
  bool isClosed = false;

  void wantLocked(ProbeTask& task);
  void unwantLocked(ProbeTask& task);
  // Notes that a round is requested for this time.
  void noteIntervalLocked(ProbeClock::time_point at);
  // Returns whether such a round has anything to ask.
  bool isAnyDueLocked(ProbeClock::time_point at) const;
  // For a round in which nothing is due: a reader that wants a question then consults it again.
  void unwantAllLocked();
  // Starts the serving thread; false when the system has no thread left.
  bool startServerLocked();
  // The serving thread has been in one question for too long: it is abandoned, and a new one takes over the
  // rest of the round, cautiously, because hangs seldom occur alone.
  void replaceHungServerLocked();

 private:
  void serve(std::uint64_t me);
  bool isServingLocked(std::uint64_t me) const { return !isClosed && server == me; }
  void waitForRoundLocked(Lock& lock);
  void planWakeUpLocked(ProbeClock::time_point due, ProbeClock::time_point nextDue);
  void beginRoundLocked();
  void endRoundLocked();

  bool mustBeAloneLocked(const ProbeTask& task) const;
  std::size_t roomLocked() const;
  const Task& takeFrontLocked(std::vector<Task>& done);
  void askFrontLocked(Lock& lock, std::vector<Task>& done, std::uint64_t me);
  void askBatchLocked(Lock& lock, std::vector<Task>& done);
  bool startLoneLocked(const Task& task);
  void askLocked(Lock& lock, const Task& task);
  void markStuckLocked(ProbeTask& task);
  static void startClockLocked(ProbeTask& task);
  static void refuseLocked(ProbeTask& task);
};

}  // namespace hostwire
