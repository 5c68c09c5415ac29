// Sends batches by the chosen method.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "host/streams.h"
#include "linux/streams/ring.h"
#include "linux/streams/send.h"

namespace hostwire {

class Sender {
 public:
  // Throws HostError for kIoUring if it is not available.
  explicit Sender(SendMethod wanted);

  SendMethod method() const { return ring_ ? SendMethod::kIoUring : SendMethod::kSend; }
  // Returns the best number of sends per call.
  std::size_t batch() const;
  // Sends at most batch() of them. All are complete when it returns.
  void sendAll(std::span<Send> sends);
  static void sendOne(Send& send);

 private:
  std::unique_ptr<SendRing> ring_;
};

}  // namespace hostwire
