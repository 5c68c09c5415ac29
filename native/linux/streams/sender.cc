// send(2), and io_uring where it is permitted.
#include "linux/streams/sender.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "host/error.h"
#include "linux/kernel/file.h"

namespace hostwire {
namespace {

// About 1 ms; between two batches the thread looks for hang-ups, drained sockets and newer samples. On a
// kernel without preemption the JavaScript thread also waits for the end of a batch, because io_uring makes
// all of its sends in one system call.
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

Obstacle whyNoRing(const HostError& error) {
  const std::string reason = "io_uring is not used: " + error.operation() + " failed with " + error.symbol();
  if (error.code().value() != EPERM) return {reason, ""};
  // Since Linux 6.6: 1 refuses users that are neither privileged nor in kernel.io_uring_group, 2 refuses all.
  const std::string disabled = readSmallFile("/proc/sys/kernel/io_uring_disabled");
  if (disabled == "1" || disabled == "2")
    return {reason + ", kernel.io_uring_disabled is " + disabled, "sysctl -w kernel.io_uring_disabled=0"};
  return {reason + ": a seccomp filter, as in containers",
          "permit io_uring_setup, io_uring_enter and io_uring_register in that filter"};
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

Finding describeStreams() {
  const std::string subject = "streams";
  try {
    const SendRing ring(1);
    return Finding::works(
        subject, "io_uring: one system call for up to " + std::to_string(kSendsPerBatch) + " subscribers");
  } catch (const HostError& error) {
    return Finding::partly(subject, "send: one system call per subscriber", whyNoRing(error));
  }
}

}  // namespace hostwire
