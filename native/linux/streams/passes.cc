// Passes over the streams. A pass visits the streams of a channel once and sends each the frames that it
// needs at that moment; a newer sample that arrives during the pass reaches the remaining streams by this
// pass, and the others by the next.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "linux/sockets/closing.h"
#include "linux/streams/distributor.h"

namespace hostwire {
namespace {

constexpr int kMaxLastReads = 16;
constexpr std::size_t kBytesPerLastRead = 64U << 10U;

}  // namespace

void Distributor::markDue(std::uint32_t channel) {
  if (!std::exchange(table_.channels()[channel].isDue, true)) due_.push_back(channel);
}

void Distributor::markAllDue() {
  auto& channels = table_.channels();
  for (std::uint32_t channel = 0; channel < channels.size(); ++channel)
    if (!channels[channel].slots.empty()) markDue(channel);
}

// Returns false when no channel is due.
bool Distributor::beginPass() {
  if (due_.empty()) return false;
  passChannel_ = due_.front();
  due_.pop_front();
  StreamChannel& channel = table_.channels()[passChannel_];
  channel.isDue = false;
  passPlace_ = channel.slots.size();
  return true;
}

void Distributor::runBatch() {
  sends_.clear();
  targets_.clear();
  while (sends_.size() < sender_.batch()) {
    // A pass begins with an empty batch: the next one over the same channel would meet streams to which this
    // one is sending.
    if (passPlace_ == 0 && (!sends_.empty() || !beginPass())) break;
    const auto& slots = table_.channels()[passChannel_].slots;
    passPlace_ = std::min(passPlace_, slots.size());
    if (passPlace_ == 0) continue;
    const std::uint32_t slot = slots[--passPlace_];
    Stream& stream = table_.at(slot);
    const auto* const frame = needOf(stream);
    if (frame == nullptr) continue;
    sends_.push_back({stream.fd, (*frame)->bytes(stream.framing())});
    targets_.push_back({slot, *frame});
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
    if (sent > 0) keep(slot, {frame, sent});
    return;
  }
  if (stream.isLastSent) return close(slot, Close::kPlain);
  // It needs another frame: the next sample, or the last chunk.
  const StreamChannel& channel = table_.channelOf(stream);
  if (endAt_ || channel.isFinished || channel.samples.earlier.event == frame) markDue(stream.channel);
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
  const auto found = rests_.find(slot);
  if (found == rests_.end()) return true;
  Stream& stream = table_.at(slot);
  Rest& rest = found->second;
  Send send{stream.fd, rest.frame->bytes(stream.framing()).substr(rest.offset)};
  Sender::sendOne(send);
  if (send.result < 0) {
    if (!isTemporary(send.result)) close(slot, Close::kPlain);
    return false;
  }
  stream.wroteAt = now_;
  const auto sent = static_cast<std::size_t>(send.result);
  if (sent == send.bytes.size()) return dropRest(slot), true;
  rest.offset += sent;
  mailbox_.bufferedBytes -= sent;
  return false;
}

void Distributor::setFull(std::uint32_t slot) {
  Stream& stream = table_.at(slot);
  stream.isFull = true;
  stream.wroteAt = now_;
  ++mailbox_.fullStreams;
  watch(slot, true);
}

void Distributor::keep(std::uint32_t slot, Rest rest) {
  mailbox_.bufferedBytes += rest.frame->bytes(table_.at(slot).framing()).size() - rest.offset;
  rests_.insert_or_assign(slot, std::move(rest));
  listBuffered(slot);
}

void Distributor::dropRest(std::uint32_t slot) {
  const auto found = rests_.find(slot);
  if (found == rests_.end()) return;
  mailbox_.bufferedBytes -=
      found->second.frame->bytes(table_.at(slot).framing()).size() - found->second.offset;
  rests_.erase(found);
  listBuffered(slot);
}

void Distributor::listBuffered(std::uint32_t slot) {
  if (!std::exchange(table_.at(slot).isBufferedListed, true)) bufferedListed_.push_back(slot);
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
  {
    const std::lock_guard lock(closingLock());
    ::close(stream.fd);
  }
  dropRest(slot);
  if (stream.isFull) --mailbox_.fullStreams;
  --mailbox_.streams;
  closed_.push_back(StreamTable::idOf(slot, stream));
  table_.remove(slot);
  if (table_.size() == 0) idleSince_ = StreamClock::now();
}

}  // namespace hostwire
