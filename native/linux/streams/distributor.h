// Runs on the writer's thread. It alone sends on the descriptors it owns, and it alone closes them, between
// two batches: when no send on them is in progress.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/streams.h"
#include "linux/kernel/file.h"
#include "linux/streams/frame.h"
#include "linux/streams/mailbox.h"
#include "linux/streams/passes.h"
#include "linux/streams/rests.h"
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
  enum class Close { kPlain, kReset };

  // The loop.
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
  void sweep();
  void flushNews();

  // The frames that are sent.
  void runBatch();
  const std::shared_ptr<const Frame>* needOf(Stream& stream);
  void settle(std::uint32_t slot, const std::shared_ptr<const Frame>& frame, std::int32_t result);
  void drain(std::uint32_t slot);
  bool sendRest(std::uint32_t slot);
  void serve(std::uint32_t slot);
  void setFull(std::uint32_t slot);
  void watch(std::uint32_t slot, bool forRoom);
  void close(std::uint32_t slot, Close how);

  static std::uint32_t tenths();

  Mailbox& mailbox_;
  const std::uint32_t silence_;     // in tenths of a second, like all times in records
  const std::uint32_t stallLimit_;  // 0: none
  const std::chrono::milliseconds sweepInterval_;
  Sender sender_;
  FileDescriptor poller_;
  StreamTable table_;
  Passes passes_{table_};
  Rests rests_{table_, mailbox_};
  const std::shared_ptr<const Frame> comment_ = Frame::comment();
  const std::shared_ptr<const Frame> last_ = Frame::last();

  // The sends of a batch, their frames and their slots.
  std::vector<Send> sends_;
  struct Target {
    std::uint32_t slot;
    std::shared_ptr<const Frame> frame;
  };
  std::vector<Target> targets_;

  std::uint32_t now_ = 0;
  StreamClock::time_point sweepAt_;
  StreamClock::time_point idleSince_;
  std::optional<StreamClock::time_point> endAt_;
  bool isStopped_ = false;
  std::vector<StreamId> closed_;
};

}  // namespace hostwire
