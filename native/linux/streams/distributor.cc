// The loop of the writer's thread: orders, epoll(7), time.
#include "linux/streams/distributor.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "host/error.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

constexpr int kEventsPerPoll = 256;
constexpr std::uint64_t kWakeData = ~std::uint64_t{0};
// Idle time after which the thread ends: starting one costs 30 µs.
constexpr milliseconds kIdleLimit{2000};
constexpr milliseconds kMaxTendInterval{2000};
constexpr milliseconds kMinTendInterval{50};
// Maximum input of a stream: clients of an event stream send nothing.
constexpr std::uint32_t kMaxInputBytes = 64U << 10U;
constexpr std::size_t kInputPerRead = 4096;

std::uint32_t toTenths(milliseconds time) { return static_cast<std::uint32_t>(time.count() / 100); }

// Returns an eighth of the shorter of the two limits.
milliseconds tendIntervalOf(const StreamOptions& options) {
  milliseconds shortest = options.silence;
  if (options.stallLimit.count() > 0) shortest = std::min(shortest, options.stallLimit);
  return std::clamp(shortest / 8, kMinTendInterval, kMaxTendInterval);
}

}  // namespace

std::uint32_t Distributor::tenths() {
  return toTenths(std::chrono::duration_cast<milliseconds>(StreamClock::now().time_since_epoch()));
}

Distributor::Distributor(Mailbox& mailbox, const StreamOptions& options)
    : mailbox_(mailbox),
      silence_(std::max(1U, toTenths(options.silence))),
      stallLimit_(toTenths(options.stallLimit)),
      tendInterval_(tendIntervalOf(options)),
      sender_(options.method),
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      tendAt_(StreamClock::now() + tendInterval_),
      idleSince_(StreamClock::now()) {
  if (!poller_.isOpen()) throw HostError(errno, "epoll_create1");
  epoll_event event{EPOLLIN, {.u64 = kWakeData}};
  if (epoll_ctl(poller_.get(), EPOLL_CTL_ADD, mailbox_.wakeDescriptor(), &event) != 0)
    throw HostError(errno, "epoll_ctl");
}

Distributor::~Distributor() {
  closeAll(Close::kPlain);
  flushNews();
}

void Distributor::closeAll(Close how) {
  for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
    if (table_.at(slot).fd >= 0) close(slot, how);
}

void Distributor::run() {
  while (!isOver()) {
    now_ = tenths();
    obey(mailbox_.takeOrders());
    runBatch();
    if (!hasDueChannel()) mailbox_.markServed();
    poll();
    if (StreamClock::now() >= tendAt_) tend();
    flushNews();
  }
}

void Distributor::obey(const Orders& orders) {
  auto& channels = table_.channels();
  for (const std::uint32_t channel : orders.forgotten)
    if (channel < channels.size()) {
      channels[channel].samples = {};
      channels[channel].isFinished = false;
    }
  for (const Adoption& adoption : orders.adopted) adopt(adoption);
  for (const StreamId id : orders.cut)
    if (table_.find(id) != nullptr) close(StreamTable::slotOf(id), Close::kReset);
  for (const auto& [index, samples] : orders.published) {
    // No subscriber yet; later ones have had these samples, or get them by another call.
    if (index >= channels.size()) continue;
    for (const Frames* frames : {&samples.earlier, &samples.newest})
      if (frames->event) addSample(index, *frames);
  }
  isStopped_ = isStopped_ || orders.isStopped;
  for (const std::uint32_t channel : orders.finished) {
    if (channel >= channels.size()) continue;
    channels[channel].isFinished = true;
    markDue(channel);
  }
  if (!orders.endAt) return;
  endAt_ = orders.endAt;
  markAllDue();
}

void Distributor::addSample(std::uint32_t channel, const Frames& frames) {
  const bool isSent = !table_.channels()[channel].isDue && (passPlace_ == 0 || passChannel_ != channel);
  table_.channels()[channel].samples.add(frames, isSent);
  markDue(channel);
}

void Distributor::adopt(const Adoption& adoption) {
  table_.add(adoption.slot, adoption.stream);
  Stream& stream = table_.at(adoption.slot);
  stream.wroteAt = now_;
  epoll_event event{EPOLLIN | EPOLLRDHUP, {.u64 = StreamTable::idOf(adoption.slot, stream)}};
  if (epoll_ctl(poller_.get(), EPOLL_CTL_ADD, stream.fd, &event) != 0)
    return close(adoption.slot, Close::kReset);
  sendOpening(adoption);
  // It may lack a sample that arrived while it was handed over.
  serve(adoption.slot);
}

// Head and first event are sent together; bytes that the kernel does not take are kept.
void Distributor::sendOpening(const Adoption& adoption) {
  Stream& stream = table_.at(adoption.slot);
  const std::string_view chunk = adoption.event->bytes(stream.framing());
  std::array<iovec, 2> parts{iovec{const_cast<char*>(adoption.head.data()), adoption.head.size()},
                             iovec{const_cast<char*>(chunk.data()), chunk.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t sent = sendmsg(stream.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && !isTemporary(-errno)) return close(adoption.slot, Close::kPlain);
  ++mailbox_.sentEvents;
  const auto taken = static_cast<std::size_t>(std::max<ssize_t>(0, sent));
  if (taken == adoption.head.size() + chunk.size()) return;
  setFull(adoption.slot);
  keep(adoption.slot, {Frame::opening(adoption.head, chunk, stream.sent), taken});
}

// Returns whether the thread ends here.
bool Distributor::isOver() {
  if (isStopped_) return mailbox_.finish(true);
  if (endAt_) {
    // A thread that got no processor for that long has not reached all streams: only those that took nothing
    // are cut.
    if (table_.size() > 0 && (hasDueChannel() || StreamClock::now() < *endAt_)) return false;
    finishEnd();
    return mailbox_.finish(true);
  }
  if (table_.size() > 0 || StreamClock::now() - idleSince_ < kIdleLimit) return false;
  return mailbox_.finish(false);
}

void Distributor::finishEnd() {
  StreamNews news;
  news.cutAtEnd = table_.size();
  closeAll(Close::kReset);
  flushNews();
  news.hasEnded = true;
  mailbox_.report(std::move(news));
}

int Distributor::waitMs() const {
  if (hasDueChannel() || isStopped_) return 0;
  auto until = table_.size() > 0 ? tendAt_ : idleSince_ + kIdleLimit;
  if (endAt_) until = table_.size() > 0 ? std::min(until, *endAt_) : StreamClock::now();
  const auto wait = std::chrono::ceil<milliseconds>(until - StreamClock::now());
  return static_cast<int>(std::max<std::int64_t>(0, wait.count()));
}

void Distributor::poll() {
  std::array<epoll_event, kEventsPerPoll> events;
  const int count = epoll_wait(poller_.get(), events.data(), kEventsPerPoll, waitMs());
  now_ = tenths();
  for (int at = 0; at < count; ++at) {
    const epoll_event& event = events[static_cast<std::size_t>(at)];
    if (event.data.u64 == kWakeData) continue;
    const auto id = static_cast<StreamId>(event.data.u64);
    // An earlier event may have closed it.
    if (table_.find(id) != nullptr) takeEvent(StreamTable::slotOf(id), event.events);
  }
}

void Distributor::takeEvent(std::uint32_t slot, std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) return close(slot, Close::kPlain);
  if ((events & EPOLLIN) != 0 && !takeInput(slot)) return;
  if ((events & EPOLLOUT) != 0) drain(slot);
}

// Drops the peer's input: a client of a stream has nothing to send. Returns false when the stream has ended.
bool Distributor::takeInput(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  std::array<char, kInputPerRead> dropped;
  const ssize_t got = recv(stream.fd, dropped.data(), dropped.size(), MSG_DONTWAIT);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    return close(slot, Close::kPlain), false;
  }
  if (got == 0) return close(slot, Close::kPlain), false;
  stream.inputBytes += static_cast<std::uint32_t>(got);
  if (stream.inputBytes <= kMaxInputBytes) return true;
  return close(slot, Close::kReset), false;
}

// Cuts streams that take nothing, and starts a pass over the silent ones.
void Distributor::tend() {
  tendAt_ = StreamClock::now() + tendInterval_;
  for (std::uint32_t slot = 0; stallLimit_ > 0 && slot < table_.slots(); ++slot) {
    const Stream& stream = table_.at(slot);
    if (stream.fd >= 0 && stream.isFull && now_ - stream.wroteAt >= stallLimit_) close(slot, Close::kReset);
  }
  markAllDue();
}

void Distributor::flushNews() {
  StreamNews news;
  news.closed = std::exchange(closed_, {});
  if (!bufferedListed_.empty() && mailbox_.canReportBuffered()) {
    for (const std::uint32_t slot : std::exchange(bufferedListed_, {})) {
      Stream& stream = table_.at(slot);
      // A stream that ended keeps nothing; its slot may belong to another by now, which has its own entry.
      if (!std::exchange(stream.isBufferedListed, false) || stream.fd < 0) continue;
      const auto rest = rests_.find(slot);
      const std::size_t bytes =
          rest == rests_.end() ? 0 : rest->second.frame->bytes(stream.framing()).size() - rest->second.offset;
      news.buffered.push_back({StreamTable::idOf(slot, stream), static_cast<std::uint32_t>(bytes)});
    }
  }
  if (!news.buffered.empty() || !news.closed.empty()) mailbox_.report(std::move(news));
}

}  // namespace hostwire
