// Asks one question that may hang, on behalf of a thread that must not.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "host/thread.h"

namespace hostwire {

// Maximum number of questions of the process that hang at the same time; each holds a small thread until the
// kernel returns.
inline constexpr int kMaxHanging = 8;
inline constinit std::atomic<int> hangingCount{0};

// Returns the answer; nothing when `question` threw, did not answer in time, or when too many questions
// already hang. `question` owns what it touches.
template <class T>
std::optional<T> askWithin(std::chrono::milliseconds patience, std::function<T()> question) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool isDone = false;
    std::optional<T> answer;
  };
  const auto shared = std::make_shared<Shared>();
  std::function<void()> body = [shared, ask = std::move(question)] {
    std::optional<T> answer;
    try {
      answer = ask();
    } catch (...) {
      answer.reset();
    }
    hangingCount.fetch_sub(1);
    const std::lock_guard lock(shared->mutex);
    shared->answer = std::move(answer);
    shared->isDone = true;
    shared->changed.notify_all();
  };
  // Nothing between the count and the start of the thread that decrements it may throw.
  if (hangingCount.fetch_add(1) >= kMaxHanging || !startThread(std::move(body))) {
    hangingCount.fetch_sub(1);
    return std::nullopt;
  }
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_for(lock, patience, [&] { return shared->isDone; });
  return std::move(shared->answer);
}

}  // namespace hostwire
