// Runs on the writer's thread. It alone sends on the descriptors it owns, and it alone closes them, between
// two batches: when no send on them is in progress.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host/streams.h"
#include "linux/kernel/file.h"
#include "linux/streams/frame.h"
#include "linux/streams/mailbox.h"
#include "linux/streams/sender.h"
#include "linux/streams/table.h"

namespace hostwire {

class Distributor {
 public:
  // Throws HostError.
  Distributor(Mailbox& mailbox, const StreamOptions& options);
  ~Distributor();
  Distributor(const Distributor&) = delete;
  Distributor& operator=(const Distributor&) = delete;

  SendMethod method() const { return sender_.method(); }
  // Runs until it is stopped or has ended, or had no stream for a while.
  void run();

 private:
  // The part of a frame that a socket has not taken.
  struct Rest {
    std::shared_ptr<const Frame> frame;
    std::size_t offset = 0;
  };
  enum class Close { kPlain, kReset };

  // In distributor.cc: the loop.
  void obey(const Orders& orders);
  void addSample(std::uint32_t channel, const Frames& frames);
  void adopt(const Adoption& adoption);
  void sendOpening(const Adoption& adoption);
  void finishEnd();
  void closeAll(Close how);
  bool isOver();
  int waitMs() const;
  void poll();
  void takeEvent(std::uint32_t slot, std::uint32_t events);
  bool takeInput(std::uint32_t slot);
  void tend();
  void flushNews();

  // In passes.cc: which frames are sent to which streams.
  bool hasDueChannel() const { return passPlace_ > 0 || !due_.empty(); }
  void markDue(std::uint32_t channel);
  void markAllDue();
  bool beginPass();
  void runBatch();
  const std::shared_ptr<const Frame>* needOf(Stream& stream);
  void settle(std::uint32_t slot, const std::shared_ptr<const Frame>& frame, std::int32_t result);
  void drain(std::uint32_t slot);
  bool sendRest(std::uint32_t slot);
  void serve(std::uint32_t slot);
  void setFull(std::uint32_t slot);
  void keep(std::uint32_t slot, Rest rest);
  void dropRest(std::uint32_t slot);
  void listBuffered(std::uint32_t slot);
  void watch(std::uint32_t slot, bool forRoom);
  void close(std::uint32_t slot, Close how);

  static std::uint32_t tenths();

  Mailbox& mailbox_;
  const std::uint32_t silence_;     // in tenths of a second, like all times in records
  const std::uint32_t stallLimit_;  // 0: none
  const std::chrono::milliseconds tendInterval_;
  Sender sender_;
  FileDescriptor poller_;
  StreamTable table_;
  std::unordered_map<std::uint32_t, Rest> rests_;
  const std::shared_ptr<const Frame> comment_ = Frame::comment();
  const std::shared_ptr<const Frame> last_ = Frame::last();

  // Channels whose streams may need something, in turn, so that one that is always due does not delay the
  // others.
  std::deque<std::uint32_t> due_;
  // State of the running pass: the streams of `passChannel_` below this place are not handled yet. It runs
  // from the end to the beginning, so that a removal, which moves the last stream to the free place, skips
  // none.
  std::uint32_t passChannel_ = 0;
  std::size_t passPlace_ = 0;
  // The sends of a batch, their frames and their slots.
  std::vector<Send> sends_;
  struct Target {
    std::uint32_t slot;
    std::shared_ptr<const Frame> frame;
  };
  std::vector<Target> targets_;

  std::uint32_t now_ = 0;
  StreamClock::time_point tendAt_;
  StreamClock::time_point idleSince_;
  std::optional<StreamClock::time_point> endAt_;
  bool isStopped_ = false;
  std::vector<std::uint32_t> bufferedListed_;
  std::vector<StreamId> closed_;
};

}  // namespace hostwire
