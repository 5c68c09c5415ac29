// The bus thread: pthread_create(3), eventfd(2).
#include "linux/bus/thread.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <utility>

namespace hostwire {

struct BusThread::Running {
  Running(int fd, const BusAddresses& addresses) : wakeFd(fd), loop(addresses) {}
  ~Running() { close(wakeFd); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void wake() const {
    const std::uint64_t one = 1;
    // A write can fail only when the thread would wake anyway.
    static_cast<void>(!write(wakeFd, &one, sizeof one));
  }

  // Returns the tasks to run next, and whether to end after them.
  std::pair<std::vector<Task>, bool> take() {
    std::uint64_t count = 0;
    static_cast<void>(!read(wakeFd, &count, sizeof count));
    const std::lock_guard lock(mutex);
    return {std::exchange(tasks, {}), isEnding};
  }

  void run() {
    for (;;) {
      auto [next, isLast] = take();
      if (isLast) loop.shutDown();
      for (const Task& task : next) task(loop);
      if (isLast) return loop.shutDown();
      loop.turn(wakeFd);
    }
  }

  const int wakeFd;
  BusLoop loop;
  pthread_t thread{};
  std::mutex mutex;
  std::vector<Task> tasks;
  bool isEnding = false;
};

BusThread::BusThread(BusAddresses addresses) : addresses_(std::move(addresses)) {}

BusThread::~BusThread() { stop(); }

bool BusThread::start() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return false;
  auto running = std::make_unique<Running>(fd, addresses_);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Signals are handled by the main thread.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto body = [](void* argument) -> void* {
    static_cast<Running*>(argument)->run();
    return nullptr;
  };
  const bool isStarted = pthread_create(&running->thread, nullptr, body, running.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!isStarted) return false;
  pthread_setname_np(running->thread, "hostwire-bus");
  running_ = std::move(running);
  return true;
}

bool BusThread::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (isStopped_ || (!running_ && !start())) return false;
  bool isFirst = false;
  {
    const std::lock_guard inner(running_->mutex);
    isFirst = running_->tasks.empty();
    running_->tasks.push_back(std::move(task));
  }
  if (isFirst) running_->wake();
  return true;
}

void BusThread::stop() {
  std::unique_ptr<Running> ending;
  {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
    ending = std::move(running_);
  }
  if (!ending) return;
  {
    const std::lock_guard inner(ending->mutex);
    ending->isEnding = true;
  }
  ending->wake();
  pthread_join(ending->thread, nullptr);
}

}  // namespace hostwire
