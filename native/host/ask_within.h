// One question that may hang, asked by a thread that must not.
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

// Questions of the whole process that may hang at the same time; each holds a small thread until the kernel
// lets it go.
inline constexpr int kMaxHanging = 8;
inline constinit std::atomic<int> hangingCount{0};

// The answer; nothing when `question` threw, did not answer in time, or when too many questions already hang.
// `question` owns what it touches.
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
  // Nothing throws between the count and the thread that takes it back.
  if (hangingCount.fetch_add(1) >= kMaxHanging || !startThread(std::move(body))) {
    hangingCount.fetch_sub(1);
    return std::nullopt;
  }
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_for(lock, patience, [&] { return shared->isDone; });
  return std::move(shared->answer);
}

}  // namespace hostwire
