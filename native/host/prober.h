// Probers ask questions that may hang or are slow (statvfs, sensors, drivers) on threads of their own and
// keep the last answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace hostwire {

// State of a prober's answer.
template <class T>
struct Answer {
  std::optional<T> value;            // the last answer; absent until the first one, or when asking failed
  std::chrono::milliseconds age{0};  // since the last answer
  bool isStale = false;              // asked, but not answered in time
  std::string error;                 // why the last question failed; empty if it succeeded
};

class ProbeTask;  // one question: private to prober.cc

// Owns the threads. Its destructor never waits for a stuck question: such a thread keeps the state it needs
// alive and ends when the kernel returns.
class ProberPool {
 public:
  ProberPool();
  ~ProberPool();
  ProberPool(const ProberPool&) = delete;
  ProberPool& operator=(const ProberPool&) = delete;

  // Asks every prober that was consulted since the last round once more, `delay` from now: the caller passes
  // the time until it wants fresh answers, minus the time that asking takes. A new round replaces one that is
  // not due yet. No thread wakes for a round in which no question is due.
  void askAll(std::chrono::milliseconds delay);

  // Returns whether a question that was consulted has not been answered yet, be it with an error.
  bool awaitsFirstAnswers() const;

  // Returns the number of threads that are stuck in a question now.
  std::size_t stuckCount() const;

  struct State;
  std::shared_ptr<State> state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// The part of the pool that a question holds in order to create probers: it may outlive the pool, which is
// then closed.
using ProberPoolState = std::shared_ptr<ProberPool::State>;

// Same as ProberPool::askAll.
void askAll(const ProberPoolState& pool, std::chrono::milliseconds delay);

// The untyped half of Prober: registers, schedules and times one question.
class ProberHandle {
 public:
  // `ask` runs on a prober thread and may outlive the handle: it owns all it touches. The text of its
  // exception is the answer's error. At least `leastAge`, less a tenth, passes between two rounds that ask
  // it.
  ProberHandle(ProberPoolState pool, std::function<void()> ask, std::chrono::milliseconds leastAge);
  ~ProberHandle();
  ProberHandle(ProberHandle&&) noexcept;
  ProberHandle& operator=(ProberHandle&&) noexcept;
  ProberHandle(const ProberHandle&) = delete;
  ProberHandle& operator=(const ProberHandle&) = delete;

  struct Status {
    bool hasAnswered = false;
    std::chrono::milliseconds age{0};
    bool isStale = false;
    std::string error;
  };
  // Also marks the question as wanted in the next round, which skips it if it was last asked less than its
  // least age before.
  Status consult() const;

 private:
  std::shared_ptr<ProbeTask> task_;
};

// A question with an answer of type T.
template <class T>
class Prober {
 public:
  Prober(ProberPool& pool, std::function<T()> ask, std::chrono::milliseconds leastAge = {})
      : Prober(pool.state(), std::move(ask), leastAge) {}
  Prober(ProberPoolState pool, std::function<T()> ask, std::chrono::milliseconds leastAge = {})
      : slot_(std::make_shared<Slot>()),
        handle_(
            std::move(pool),
            [slot = slot_, question = std::move(ask)] {
              std::optional<T> value;
              try {
                value = question();
              } catch (...) {
                slot->store(std::nullopt);
                throw;
              }
              slot->store(std::move(value));
            },
            leastAge) {}

  Answer<T> latest() const {
    auto status = handle_.consult();
    return {slot_->load(), status.age, status.isStale, std::move(status.error)};
  }

 private:
  struct Slot {
    void store(std::optional<T> next) {
      const std::lock_guard lock(mutex);
      value = std::move(next);
    }
    std::optional<T> load() {
      const std::lock_guard lock(mutex);
      return value;
    }
    std::mutex mutex;
    std::optional<T> value;
  };
  std::shared_ptr<Slot> slot_;
  ProberHandle handle_;
};

}  // namespace hostwire
