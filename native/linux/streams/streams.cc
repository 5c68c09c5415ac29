// The writer as JavaScript's thread sees it: slots, the thread, and the hand-over to it.
#include "host/streams.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "host/error.h"
#include "linux/kernel/file.h"
#include "linux/streams/distributor.h"
#include "linux/streams/frame.h"
#include "linux/streams/mailbox.h"

namespace hostwire {
namespace {

constexpr std::size_t kStackBytes = 256U << 10U;
constexpr std::uint32_t kMaxSlots = 1U << kStreamSlotBits;
constexpr std::uint16_t kGenerations = 1U << (32 - kStreamSlotBits);

// A slot is free again when JavaScript has been notified of its stream's end: until then its id means that
// stream.
class Slots {
 public:
  std::pair<std::uint32_t, std::uint16_t> take() {
    if (free_.empty()) {
      if (generations_.size() == kMaxSlots) throw HostError(ENOSPC, "adopt a stream");
      generations_.push_back(0);
      return {static_cast<std::uint32_t>(generations_.size() - 1), std::uint16_t{0}};
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return {slot, generations_[slot]};
  }
  void release(std::uint32_t slot) {
    generations_[slot] = static_cast<std::uint16_t>((generations_[slot] + 1) % kGenerations);
    free_.push_back(slot);
    if (free_.size() < generations_.size()) return;
    // All are free: after a crowd no memory is kept for it.
    free_ = {};
    generations_ = {};
  }

 private:
  std::vector<std::uint16_t> generations_;
  std::vector<std::uint32_t> free_;
};

void* runThread(void* argument) {
  const std::unique_ptr<Distributor> distributor(static_cast<Distributor*>(argument));
  distributor->run();
  return nullptr;
}

class Writer final : public StreamWriter {
 public:
  Writer(const StreamOptions& options, std::function<void()> onNews)
      : options_(options), mailbox_(std::move(onNews)) {}
  ~Writer() override { stop(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  StreamId adopt(int fd, const StreamOpening& opening) override;
  void publish(std::uint32_t channel, const StreamSample& sample) override;
  bool mayMiss() const override { return mailbox_.isServing || mailbox_.fullStreams > 0; }
  void forget(std::uint32_t channel) override;
  void finish(std::uint32_t channel) override;
  void cut(std::span<const StreamId> ids) override;
  void end(std::chrono::milliseconds limit) override;
  void close() override { stop(); }
  StreamNews takeNews() override;
  StreamCounters counters() const override;
  SendMethod method() const override { return mailbox_.method; }

 private:
  void start();
  void stop();
  const std::shared_ptr<const Frame>& frameOf(std::string_view event);
  void join() {
    if (std::exchange(hasThread_, false)) pthread_join(thread_, nullptr);
  }

  const StreamOptions options_;
  Mailbox mailbox_;
  Slots slots_;
  // The first event of the last stream: most new streams have the same one.
  std::shared_ptr<const Frame> firstEvent_;
  pthread_t thread_{};
  bool hasThread_ = false;
  bool isEnding_ = false;
};

void Writer::start() {
  join();
  auto distributor = std::make_unique<Distributor>(mailbox_, options_);
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) throw HostError(error, "start a thread");
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // Signals are handled by the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  mailbox_.begin();
  mailbox_.method = distributor->method();
  const int error = pthread_create(&thread_, &attributes, runThread, distributor.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    mailbox_.finish(true);
    throw HostError(error, "start a thread");
  }
  static_cast<void>(distributor.release());
  hasThread_ = true;
  pthread_setname_np(thread_, "hostwire-stream");
}

const std::shared_ptr<const Frame>& Writer::frameOf(std::string_view event) {
  if (!firstEvent_ || firstEvent_->bytes(StreamFraming::kPlain) != event)
    firstEvent_ = Frame::event(event, 0);
  return firstEvent_;
}

StreamId Writer::adopt(int fd, const StreamOpening& opening) {
  if (isEnding_) throw HostError(ECANCELED, "adopt a stream");
  FileDescriptor own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own.isOpen()) throw HostError(errno, "duplicate a stream's descriptor");
  Adoption adoption;
  adoption.stream.fd = own.get();
  adoption.stream.channel = opening.channel;
  adoption.stream.sent = opening.sent;
  adoption.stream.isPlain = opening.framing == StreamFraming::kPlain;
  adoption.head = opening.head;
  adoption.event = frameOf(opening.event);
  std::tie(adoption.slot, adoption.stream.generation) = slots_.take();
  const auto order = [&](Orders& orders) { orders.adopted.push_back(std::move(adoption)); };
  const StreamId id = StreamTable::idOf(adoption.slot, adoption.stream);
  ++mailbox_.streams;
  try {
    if (!mailbox_.order(order)) {
      start();
      mailbox_.order(order);
    }
  } catch (...) {
    --mailbox_.streams;
    slots_.release(StreamTable::slotOf(id));
    throw;
  }
  static_cast<void>(own.release());
  return id;
}

void Writer::publish(std::uint32_t channel, const StreamSample& sample) {
  if (isEnding_ || mailbox_.streams == 0) return;
  Frames frames{Frame::event(sample.event, sample.number), nullptr};
  if (!sample.whole.empty()) frames.whole = Frame::event(sample.whole, sample.number);
  firstEvent_ = nullptr;
  mailbox_.order([&](Orders& orders) {
    orders.published[channel].add(std::move(frames), false);
    mailbox_.isServing = true;
  });
}

void Writer::forget(std::uint32_t channel) {
  mailbox_.order([&](Orders& orders) {
    orders.published.erase(channel);
    orders.forgotten.push_back(channel);
  });
}

void Writer::finish(std::uint32_t channel) {
  mailbox_.order([&](Orders& orders) { orders.finished.push_back(channel); });
}

void Writer::cut(std::span<const StreamId> ids) {
  mailbox_.order([&](Orders& orders) { orders.cut.insert(orders.cut.end(), ids.begin(), ids.end()); });
}

void Writer::end(std::chrono::milliseconds limit) {
  if (std::exchange(isEnding_, true)) return;
  const auto endAt = StreamClock::now() + limit;
  if (mailbox_.order([&](Orders& orders) { orders.endAt = endAt; })) return;
  StreamNews news;
  news.hasEnded = true;
  mailbox_.report(std::move(news));
}

void Writer::stop() {
  isEnding_ = true;
  mailbox_.order([](Orders& orders) { orders.isStopped = true; });
  join();
}

StreamNews Writer::takeNews() {
  StreamNews news = mailbox_.takeNews();
  for (const StreamId id : news.closed) slots_.release(StreamTable::slotOf(id));
  return news;
}

StreamCounters Writer::counters() const {
  return {mailbox_.streams, mailbox_.fullStreams, mailbox_.bufferedBytes, mailbox_.sentEvents,
          mailbox_.skippedEvents};
}

}  // namespace

bool canOwnStreams() { return true; }

std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions& options, std::function<void()> onNews) {
  return std::make_unique<Writer>(options, std::move(onNews));
}

}  // namespace hostwire
