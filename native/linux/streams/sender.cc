// send(2), and io_uring where it is permitted.
#include "linux/streams/sender.h"

#include <sys/socket.h>

#include <cerrno>

#include "host/error.h"

namespace hostwire {
namespace {

// About 1 ms; between two batches the thread looks for hang-ups, drained sockets and newer samples. A kernel
// without preemption also lets the JavaScript thread wait for the end of a batch: io_uring makes all of its
// sends in one system call.
constexpr unsigned kSendsPerBatch = 128;

std::unique_ptr<SendRing> makeRing(SendMethod wanted, unsigned entries) {
  if (wanted == SendMethod::kSend) return nullptr;
  try {
    return std::make_unique<SendRing>(entries);
  } catch (const HostError&) {
    if (wanted == SendMethod::kIoUring) throw;
    return nullptr;
  }
}

}  // namespace

Sender::Sender(SendMethod wanted) : ring_(makeRing(wanted, kSendsPerBatch)) {}

std::size_t Sender::batch() const { return ring_ ? ring_->entries() : kSendsPerBatch; }

void Sender::sendOne(Send& send) {
  const ssize_t sent = ::send(send.fd, send.bytes.data(), send.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  send.result = static_cast<std::int32_t>(sent < 0 ? -errno : sent);
}

void Sender::sendAll(std::span<Send> sends) {
  std::size_t sent = 0;
  if (ring_) {
    sent = ring_->sendAll(sends);
    if (sent < sends.size()) ring_.reset();
  }
  for (Send& send : sends.subspan(sent)) sendOne(send);
}

SendMethod findSendMethod() {
  return makeRing(SendMethod::kAuto, 1) ? SendMethod::kIoUring : SendMethod::kSend;
}

}  // namespace hostwire
