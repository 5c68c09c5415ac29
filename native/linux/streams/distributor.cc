// The loop of the writer's thread: orders, epoll(7), time; then the frames that each stream needs.
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
constexpr milliseconds kMaxSweepInterval{2000};
constexpr milliseconds kMinSweepInterval{50};
// Maximum input of a stream: clients of an event stream send nothing.
constexpr std::uint32_t kMaxInputBytes = 64U << 10U;
constexpr std::size_t kInputPerRead = 4096;
// Input that is read before a clean end.
constexpr int kMaxLastReads = 16;
constexpr std::size_t kBytesPerLastRead = 64U << 10U;

std::uint32_t toTenths(milliseconds time) { return static_cast<std::uint32_t>(time.count() / 100); }

// Returns an eighth of the shorter of the two limits.
milliseconds sweepIntervalOf(const StreamOptions& options) {
  milliseconds shortest = options.silence;
  if (options.stallLimit.count() > 0) shortest = std::min(shortest, options.stallLimit);
  return std::clamp(shortest / 8, kMinSweepInterval, kMaxSweepInterval);
}

}  // namespace

std::uint32_t Distributor::tenths() {
  return toTenths(std::chrono::duration_cast<milliseconds>(StreamClock::now().time_since_epoch()));
}

Distributor::Distributor(Mailbox& mailbox, const StreamOptions& options)
    : mailbox_(mailbox),
      silence_(std::max(1U, toTenths(options.silence))),
      stallLimit_(toTenths(options.stallLimit)),
      sweepInterval_(sweepIntervalOf(options)),
      sender_(options.method),
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      sweepAt_(StreamClock::now() + sweepInterval_),
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
    if (!passes_.hasDue()) mailbox_.markServed();
    poll();
    if (StreamClock::now() >= sweepAt_) sweep();
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
    passes_.mark(channel);
  }
  if (!orders.endAt) return;
  endAt_ = orders.endAt;
  passes_.markAll();
}

void Distributor::addSample(std::uint32_t channel, const Frames& frames) {
  table_.channels()[channel].samples.add(frames, !passes_.hasDue(channel));
  passes_.mark(channel);
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
  rests_.keep(adoption.slot, Frame::opening(adoption.head, chunk, stream.sent), taken);
}

// Returns whether the thread ends here.
bool Distributor::isOver() {
  if (isStopped_) return mailbox_.finish(true);
  if (endAt_) {
    // A thread that got no processor for that long has not reached all streams: only those that took nothing
    // are cut.
    if (table_.size() > 0 && (passes_.hasDue() || StreamClock::now() < *endAt_)) return false;
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
  if (passes_.hasDue() || isStopped_) return 0;
  auto until = table_.size() > 0 ? sweepAt_ : idleSince_ + kIdleLimit;
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
void Distributor::sweep() {
  sweepAt_ = StreamClock::now() + sweepInterval_;
  for (std::uint32_t slot = 0; stallLimit_ > 0 && slot < table_.slots(); ++slot) {
    const Stream& stream = table_.at(slot);
    if (stream.fd >= 0 && stream.isFull && now_ - stream.wroteAt >= stallLimit_) close(slot, Close::kReset);
  }
  passes_.markAll();
}

void Distributor::flushNews() {
  StreamNews news;
  news.closed = std::exchange(closed_, {});
  if (rests_.hasChanges() && mailbox_.canReportBuffered()) news.buffered = rests_.takeChanges();
  if (!news.buffered.empty() || !news.closed.empty()) mailbox_.report(std::move(news));
}

void Distributor::runBatch() {
  sends_.clear();
  targets_.clear();
  while (sends_.size() < sender_.batch()) {
    // A pass begins with an empty batch: the next one over the same channel would meet streams to which this
    // one is sending.
    const auto slot = passes_.next(sends_.empty());
    if (!slot) break;
    Stream& stream = table_.at(*slot);
    const auto* const frame = needOf(stream);
    if (frame == nullptr) continue;
    sends_.push_back({stream.fd, (*frame)->bytes(stream.framing())});
    targets_.push_back({*slot, *frame});
  }
  if (sends_.empty()) return;
  sender_.sendAll(sends_);
  for (std::size_t at = 0; at < sends_.size(); ++at)
    settle(targets_[at].slot, targets_[at].frame, sends_[at].result);
  sends_.clear();
  targets_.clear();
}

// Returns the frame that this stream needs now; null for none.
const std::shared_ptr<const Frame>* Distributor::needOf(Stream& stream) {
  if (stream.isFull || stream.isLastSent) return nullptr;
  const auto& [earlier, newest] = table_.channelOf(stream).samples;
  if (newest.event && newest.event->number() > stream.sent) {
    if (earlier.event && earlier.event->number() == stream.sent + 1) return &earlier.event;
    return newest.whole && newest.event->number() - stream.sent > 1 ? &newest.whole : &newest.event;
  }
  if (endAt_ || table_.channelOf(stream).isFinished) return &last_;
  return now_ - stream.wroteAt >= silence_ ? &comment_ : nullptr;
}

// Handles the result of a send of `frame`: all of it, a part or nothing was sent, or the connection is gone.
void Distributor::settle(std::uint32_t slot, const std::shared_ptr<const Frame>& frame, std::int32_t result) {
  Stream& stream = table_.at(slot);
  if (result < 0 && !isTemporary(result)) return close(slot, Close::kPlain);
  const std::size_t all = frame->bytes(stream.framing()).size();
  const std::size_t sent = result < 0 ? 0 : static_cast<std::size_t>(result);
  if (sent == all || sent > 0) {
    stream.wroteAt = now_;
    mailbox_.noteSent(stream.sent, frame->number());
    stream.sent = std::max(stream.sent, frame->number());
    stream.isLastSent = frame == last_;
  }
  if (sent < all) {
    setFull(slot);
    // A frame that was not begun is not kept: when the socket has room, a newer one may exist.
    if (sent > 0) rests_.keep(slot, frame, sent);
    return;
  }
  if (stream.isLastSent) return close(slot, Close::kPlain);
  // It needs another frame: the next sample, or the last chunk.
  const StreamChannel& channel = table_.channelOf(stream);
  if (endAt_ || channel.isFinished || channel.samples.earlier.event == frame) passes_.mark(stream.channel);
}

// Sends the frames that a stream needs, until it needs none or is full.
void Distributor::serve(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  while (stream.fd >= 0) {
    const auto* const found = needOf(stream);
    if (found == nullptr) return;
    const std::shared_ptr<const Frame> frame = *found;
    Send send{stream.fd, frame->bytes(stream.framing())};
    Sender::sendOne(send);
    settle(slot, frame, send.result);
  }
}

// Continues when the socket has room again.
void Distributor::drain(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  if (stream.isFull && !sendRest(slot)) return;
  if (std::exchange(stream.isFull, false)) --mailbox_.fullStreams;
  if (stream.isLastSent) return close(slot, Close::kPlain);
  serve(slot);
  if (stream.fd >= 0 && !stream.isFull) watch(slot, false);
}

// Returns false when some of it is left, or the stream has ended.
bool Distributor::sendRest(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  Send send{stream.fd, rests_.of(slot)};
  if (send.bytes.empty()) return true;
  Sender::sendOne(send);
  if (send.result < 0) {
    if (!isTemporary(send.result)) close(slot, Close::kPlain);
    return false;
  }
  stream.wroteAt = now_;
  const auto sent = static_cast<std::size_t>(send.result);
  if (sent == send.bytes.size()) return rests_.drop(slot), true;
  rests_.advance(slot, sent);
  return false;
}

void Distributor::setFull(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  stream.isFull = true;
  stream.wroteAt = now_;
  ++mailbox_.fullStreams;
  watch(slot, true);
}

void Distributor::watch(std::uint32_t slot, bool forRoom) {
  Stream& stream = table_.at(slot);
  if (stream.isWaiting == forRoom) return;
  stream.isWaiting = forRoom;
  epoll_event event{EPOLLIN | EPOLLRDHUP | (forRoom ? EPOLLOUT : 0U),
                    {.u64 = StreamTable::idOf(slot, stream)}};
  // The descriptor is registered, so this can fail only for lack of memory; then the next event is late.
  epoll_ctl(poller_.get(), EPOLL_CTL_MOD, stream.fd, &event);
}

void Distributor::close(std::uint32_t slot, Close how) {
  Stream& stream = table_.at(slot);
  // Removed explicitly: while the caller's own descriptor is open the registration would outlive ours.
  epoll_ctl(poller_.get(), EPOLL_CTL_DEL, stream.fd, nullptr);
  // A peer that hung up takes none of the pending bytes, which the kernel would keep for it.
  if (how == Close::kReset || (stream.isFull && !stream.isLastSent)) {
    const linger reset{1, 0};
    setsockopt(stream.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  } else if (stream.isLastSent) {
    // Unread input would turn the end into a reset, which may destroy the last bytes.
    for (int reads = 0; reads < kMaxLastReads; ++reads)
      if (recv(stream.fd, nullptr, kBytesPerLastRead, MSG_DONTWAIT | MSG_TRUNC) <= 0) break;
    shutdown(stream.fd, SHUT_WR);
  }
  ::close(stream.fd);
  rests_.drop(slot);
  if (stream.isFull) --mailbox_.fullStreams;
  --mailbox_.streams;
  closed_.push_back(StreamTable::idOf(slot, stream));
  table_.remove(slot);
  if (table_.size() == 0) idleSince_ = StreamClock::now();
}

}  // namespace hostwire
