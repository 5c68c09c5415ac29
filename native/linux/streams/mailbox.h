// Hand-over between JavaScript's thread and the writer's thread. Neither holds the lock for longer than a
// move.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/streams.h"
#include "linux/kernel/file.h"
#include "linux/streams/frame.h"
#include "linux/streams/table.h"

namespace hostwire {

using StreamClock = std::chrono::steady_clock;

struct Adoption {
  std::uint32_t slot = 0;
  Stream stream;
  std::string head;
  std::shared_ptr<const Frame> event;
};

// Orders for the writer's thread since it last looked.
struct Orders {
  std::vector<Adoption> adopted;
  std::vector<StreamId> cut;
  std::unordered_map<std::uint32_t, Samples> published;
  std::vector<std::uint32_t> finished;
  std::vector<std::uint32_t> forgotten;  // obeyed first: a channel may be in use again
  std::optional<StreamClock::time_point> endAt;
  bool isStopped = false;

  bool isEmpty() const {
    return adopted.empty() && cut.empty() && published.empty() && finished.empty() && forgotten.empty() &&
           !endAt && !isStopped;
  }
};

class Mailbox {
 public:
  // Throws HostError.
  explicit Mailbox(std::function<void()> onNews);

  // Changes the orders and wakes the writer's thread; returns false when that has ended and must be started
  // again.
  template <class Change>
  bool order(const Change& change) {
    const std::lock_guard lock(mutex_);
    if (!isRunning_) return false;
    change(orders_);
    if (!std::exchange(isWoken_, true)) wake();
    return true;
  }
  // Notes that the writer's thread will look.
  void begin();

  StreamNews takeNews();

  // On the writer's thread, like the rest.
  int wakeDescriptor() const { return wakeFd_.get(); }
  Orders takeOrders();
  // Notes that all that was published so far has been sent.
  void markServed();
  // Returns false when there are orders: otherwise the thread must end now. `isLast`: no more orders are
  // obeyed.
  bool finish(bool isLast);
  // Returns whether earlier reports of buffered bytes have been taken, so that more may be reported.
  bool canReportBuffered();
  void report(StreamNews news);

  // Counts a stream that has had sample `before` and was sent `number`; comments and ends have smaller
  // numbers.
  void noteSent(std::uint32_t before, std::uint32_t number) {
    if (number <= before) return;
    sentEvents.fetch_add(1, std::memory_order_relaxed);
    skippedEvents.fetch_add(number - before - 1, std::memory_order_relaxed);
  }

  std::atomic<bool> isServing = false;  // between publish() and markServed()
  std::atomic<std::size_t> streams = 0;
  std::atomic<std::size_t> fullStreams = 0;
  std::atomic<std::size_t> bufferedBytes = 0;
  std::atomic<std::uint64_t> sentEvents = 0;
  std::atomic<std::uint64_t> skippedEvents = 0;
  std::atomic<SendMethod> method = SendMethod::kAuto;

 private:
  void wake() const;

  const std::function<void()> onNews_;
  const FileDescriptor wakeFd_;
  std::mutex mutex_;
  Orders orders_;
  StreamNews news_;
  bool isWoken_ = false;
  bool isRunning_ = false;
  bool hasNews_ = false;
  bool isBufferedAwaited_ = false;  // the thread has more to report
};

}  // namespace hostwire
