// Generic netlink by hand, with the two questions that Wi-Fi needs.
#include "linux/network/generic_netlink.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "host/error.h"
#include "linux/network/parse_nl80211.h"

namespace hostwire {
namespace {

// The kernel answers before send(2) returns; the wait is for a driver's lock.
constexpr timeval kPatience{1, 0};
// The size of the parts of a dump (NLMSG_GOODSIZE and netlink's own limit of 32 KiB).
constexpr std::size_t kMaxPartBytes = 32'768;

template <class T>
void append(std::string& message, const T& value) {
  message.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void pad(std::string& message) { message.resize((message.size() + 3U) & ~std::size_t{3}); }

std::string messageOf(const GenericNetlink::Request& request, std::uint32_t sequence) {
  std::string message(NLMSG_HDRLEN, '\0');
  genlmsghdr generic{};
  generic.cmd = request.command;
  generic.version = 1;
  append(message, generic);
  for (const GenericNetlink::Attribute& attribute : request.attributes) {
    append(message, nlattr{static_cast<std::uint16_t>(NLA_HDRLEN + attribute.value.size()), attribute.type});
    message.append(attribute.value);
    pad(message);
  }
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  header.nlmsg_type = request.family;
  header.nlmsg_flags = NLM_F_REQUEST | (request.isDump ? NLM_F_DUMP : NLM_F_ACK);
  header.nlmsg_seq = sequence;
  std::memcpy(message.data(), &header, sizeof header);
  return message;
}

template <class T>
std::string_view bytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

void GenericNetlink::openOnce() {
  if (socket_.isOpen()) return;
  socket_.reset(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
  if (!socket_.isOpen()) throw HostError(errno, "open a netlink socket");
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  buffer_.resize(kMaxPartBytes);
}

void GenericNetlink::send(const std::string& message) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto* address = reinterpret_cast<const sockaddr*>(&kernel);
  while (sendto(socket_.get(), message.data(), message.size(), 0, address, sizeof kernel) < 0)
    if (errno != EINTR) throw HostError(errno, "send to netlink");
}

std::string_view GenericNetlink::receive() {
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

std::vector<std::string> GenericNetlink::ask(const Request& request) {
  openOnce();
  try {
    send(messageOf(request, ++sequence_));
    std::vector<std::string> answers;
    while (true) {
      const NetlinkPart part = parseNetlink(receive(), sequence_);
      for (const std::string_view payload : part.payloads) answers.emplace_back(payload);
      if (part.error != 0) throw HostError(part.error, "netlink request");
      if (part.isLast) return answers;
    }
  } catch (...) {
    socket_.reset();  // what may still arrive belongs to no question
    throw;
  }
}

std::optional<std::uint16_t> GenericNetlink::findFamily(std::string_view name) {
  std::string terminated(name);
  terminated += '\0';
  try {
    for (const std::string& answer :
         ask({GENL_ID_CTRL, CTRL_CMD_GETFAMILY, false, {{CTRL_ATTR_FAMILY_NAME, terminated}}}))
      if (const auto id = parseFamilyId(answer)) return id;
  } catch (const HostError& error) {
    if (error.code().value() != ENOENT) throw;
  }
  return std::nullopt;
}

// A client receives its access point and, with TDLS, its neighbours after it. A driver without a value costs
// no other interface its own.
std::optional<double> WifiSignals::readOne(std::uint32_t index) {
  try {
    for (const std::string& station :
         netlink_.ask({*family_, NL80211_CMD_GET_STATION, true, {{NL80211_ATTR_IFINDEX, bytesOf(index)}}}))
      if (const auto signal = parseStationSignal(station)) return signal;
  } catch (const HostError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::map<std::uint32_t, double> WifiSignals::read() {
  if (!family_) family_ = netlink_.findFamily(NL80211_GENL_NAME);
  std::map<std::uint32_t, double> signals;
  if (!family_) return signals;
  try {
    for (const std::string& answer : netlink_.ask({*family_, NL80211_CMD_GET_INTERFACE, true, {}})) {
      const auto wifi = parseWifiInterface(answer);
      if (!wifi || !wifi->isClient) continue;
      if (const auto signal = readOne(wifi->index)) signals.emplace(wifi->index, *signal);
    }
  } catch (...) {
    family_.reset();  // the module may have been loaded again, with another number
    throw;
  }
  return signals;
}

}  // namespace hostwire
