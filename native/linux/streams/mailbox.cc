// The thread sleeps in epoll_wait(2); an eventfd(2) wakes it.
#include "linux/streams/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "host/error.h"

namespace hostwire {

Mailbox::Mailbox(std::function<void()> onNews)
    : onNews_(std::move(onNews)), wakeFd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wakeFd_.isOpen()) throw HostError(errno, "eventfd");
}

void Mailbox::wake() const {
  const std::uint64_t one = 1;
  // A write can fail only when the thread would wake anyway.
  static_cast<void>(!write(wakeFd_.get(), &one, sizeof one));
}

void Mailbox::begin() {
  const std::lock_guard lock(mutex_);
  isRunning_ = true;
}

StreamNews Mailbox::takeNews() {
  const std::lock_guard lock(mutex_);
  hasNews_ = false;
  if (std::exchange(isBufferedAwaited_, false) && isRunning_ && !std::exchange(isWoken_, true)) wake();
  return std::exchange(news_, {});
}

Orders Mailbox::takeOrders() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(isWoken_, false)) {
    std::uint64_t count = 0;
    static_cast<void>(!read(wakeFd_.get(), &count, sizeof count));
  }
  return std::exchange(orders_, {});
}

void Mailbox::markServed() {
  if (!isServing) return;
  const std::lock_guard lock(mutex_);
  isServing = !orders_.published.empty();
}

bool Mailbox::finish(bool isLast) {
  const std::lock_guard lock(mutex_);
  if (!isLast && !orders_.isEmpty()) return false;
  orders_ = {};
  isRunning_ = false;
  isServing = false;
  method = SendMethod::kAuto;
  return true;
}

bool Mailbox::canReportBuffered() {
  const std::lock_guard lock(mutex_);
  isBufferedAwaited_ = !news_.buffered.empty();
  return !isBufferedAwaited_;
}

void Mailbox::report(StreamNews news) {
  {
    const std::lock_guard lock(mutex_);
    const auto append = [](auto& to, auto& from) {
      if (to.empty())
        to = std::move(from);
      else
        to.insert(to.end(), from.begin(), from.end());
    };
    append(news_.buffered, news.buffered);
    append(news_.closed, news.closed);
    news_.hasEnded = news_.hasEnded || news.hasEnded;
    news_.cutAtEnd += news.cutAtEnd;
    if (std::exchange(hasNews_, true)) return;
  }
  onNews_();
}

}  // namespace hostwire
