// The writer as JavaScript's thread sees it: slots, the thread, and what is handed to it.
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

// A slot is free again when JavaScript has heard of its stream's end: until then its id means that one.
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
    // All are free: after a crowd nothing of it is left in memory.
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

}  // namespace

bool canOwnStreams() { return true; }

struct StreamWriter::State {
  State(const StreamOptions& given, std::function<void()> onNews)
      : options(given), mailbox(std::move(onNews)) {}

  void start() {
    join();
    auto distributor = std::make_unique<Distributor>(mailbox, options);
    pthread_attr_t attributes;
    if (const int error = pthread_attr_init(&attributes)) throw HostError(error, "start a thread");
    pthread_attr_setstacksize(&attributes, kStackBytes);
    // Signals belong to the main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    mailbox.begin();
    mailbox.method = distributor->method();
    const int error = pthread_create(&thread, &attributes, runThread, distributor.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      mailbox.finish(true);
      throw HostError(error, "start a thread");
    }
    static_cast<void>(distributor.release());
    hasThread = true;
    pthread_setname_np(thread, "hostwire-stream");
  }
  void join() {
    if (std::exchange(hasThread, false)) pthread_join(thread, nullptr);
  }

  const StreamOptions options;
  Mailbox mailbox;
  Slots slots;
  pthread_t thread{};
  bool hasThread = false;
  bool isEnding = false;
};

StreamWriter::StreamWriter(const StreamOptions& options, std::function<void()> onNews)
    : state_(std::make_unique<State>(options, std::move(onNews))) {}

StreamWriter::~StreamWriter() { close(); }

StreamId StreamWriter::adopt(int fd, std::uint8_t view, std::uint32_t sent, StreamFraming framing) {
  if (state_->isEnding) throw HostError(ECANCELED, "adopt a stream");
  FileDescriptor own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own.isOpen()) throw HostError(errno, "duplicate a stream's descriptor");
  Adoption adoption;
  adoption.stream.fd = own.get();
  adoption.stream.view = view;
  adoption.stream.sent = sent;
  adoption.stream.isPlain = framing == StreamFraming::kPlain;
  std::tie(adoption.slot, adoption.stream.generation) = state_->slots.take();
  const auto order = [&](Orders& orders) { orders.adopted.push_back(adoption); };
  ++state_->mailbox.streams;
  try {
    if (!state_->mailbox.order(order)) {
      state_->start();
      state_->mailbox.order(order);
    }
  } catch (...) {
    --state_->mailbox.streams;
    state_->slots.release(adoption.slot);
    throw;
  }
  static_cast<void>(own.release());
  return StreamTable::idOf(adoption.slot, adoption.stream);
}

void StreamWriter::publish(std::uint8_t view, std::uint32_t number, std::string_view event) {
  if (state_->isEnding || state_->mailbox.streams == 0) return;
  auto frame = Frame::event(event, number);
  state_->mailbox.order([&](Orders& orders) { orders.newest.insert_or_assign(view, std::move(frame)); });
}

void StreamWriter::cut(std::span<const StreamId> ids) {
  state_->mailbox.order([&](Orders& orders) { orders.cut.insert(orders.cut.end(), ids.begin(), ids.end()); });
}

void StreamWriter::end(std::chrono::milliseconds limit) {
  if (std::exchange(state_->isEnding, true)) return;
  const auto endAt = StreamClock::now() + limit;
  if (state_->mailbox.order([&](Orders& orders) { orders.endAt = endAt; })) return;
  StreamNews news;
  news.hasEnded = true;
  state_->mailbox.report(std::move(news));
}

void StreamWriter::close() {
  state_->isEnding = true;
  state_->mailbox.order([](Orders& orders) { orders.isStopped = true; });
  state_->join();
}

StreamNews StreamWriter::takeNews() {
  StreamNews news = state_->mailbox.takeNews();
  for (const StreamId id : news.closed) state_->slots.release(StreamTable::slotOf(id));
  return news;
}

StreamCounters StreamWriter::counters() const {
  const Mailbox& mailbox = state_->mailbox;
  return {mailbox.streams, mailbox.fullStreams, mailbox.keptBytes, mailbox.sentEvents, mailbox.skippedEvents};
}

SendMethod StreamWriter::method() const { return state_->mailbox.method; }

}  // namespace hostwire
