// Questions and answers of a netlink socket.
#include "linux/network/netlink/netlink.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

#include "host/error.h"
#include "linux/network/netlink/parse_netlink.h"

namespace hostwire {
namespace {

// Time limit: the kernel answers before send(2) returns; the wait is for a driver's lock.
constexpr timeval kPatience{1, 0};
// The size of the parts of a dump (NLMSG_GOODSIZE and netlink's own limit of 32 KiB).
constexpr std::size_t kMaxPartBytes = 32'768;

std::string messageOf(const Netlink::Question& question, std::uint32_t sequence) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + question.content.size());
  header.nlmsg_type = question.type;
  header.nlmsg_flags = NLM_F_REQUEST | (question.isDump ? NLM_F_DUMP : NLM_F_ACK);
  header.nlmsg_seq = sequence;
  return std::string(bytesOf(header)).append(question.content);
}

}  // namespace

void Netlink::openOnce() {
  if (socket_.isOpen()) return;
  socket_.reset(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol_));
  if (!socket_.isOpen()) throw HostError(errno, "open a netlink socket");
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  buffer_.resize(kMaxPartBytes);
}

void Netlink::send(const std::string& message) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto* address = reinterpret_cast<const sockaddr*>(&kernel);
  while (sendto(socket_.get(), message.data(), message.size(), 0, address, sizeof kernel) < 0)
    if (errno != EINTR) throw HostError(errno, "send to netlink");
}

std::string_view Netlink::receive() {
  while (true) {
    sockaddr_nl sender{};
    socklen_t length = sizeof sender;
    auto* address = reinterpret_cast<sockaddr*>(&sender);
    const ssize_t got = recvfrom(socket_.get(), buffer_.data(), buffer_.size(), 0, address, &length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw HostError(errno, "receive from netlink");
    // Programs may write to this socket, too: only the kernel's messages count.
    if (sender.nl_pid == 0) return {buffer_.data(), static_cast<std::size_t>(got)};
  }
}

bool Netlink::ask(const Question& question, const std::function<void(std::string_view)>& take) {
  openOnce();
  try {
    send(messageOf(question, ++sequence_));
    bool isWhole = true;
    while (true) {
      const NetlinkPart part = parseNetlink(receive(), sequence_);
      for (const std::string_view payload : part.payloads) take(payload);
      isWhole = isWhole && !part.isInterrupted;
      if (part.error != 0) throw HostError(part.error, "netlink request");
      if (part.isLast) return isWhole;
    }
  } catch (...) {
    socket_.reset();  // messages that still arrive belong to no question
    throw;
  }
}

}  // namespace hostwire
