// A bus that a test owns: the D-Bus specification, "Authentication Protocol" and "Message Protocol".
#include "fake_bus.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

namespace fake {
namespace {

constexpr std::string_view kDriver = "org.freedesktop.DBus";

void putField(Bytes& fields, std::uint8_t code, char type, std::string_view value) {
  fields.pad(8);
  fields.put(code);
  fields.putSignature(std::string(1, type));
  if (type == 'g')
    fields.putSignature(value);
  else
    fields.putText(value);
}

void putNumber(Bytes& fields, std::uint8_t code, std::uint32_t value) {
  fields.pad(8);
  fields.put(code);
  fields.putSignature("u");
  fields.put(value);
}

// A message with `fields`, to which the signature of `body` is added.
std::string message(std::uint8_t type, Bytes fields, const Body& body) {
  if (!body.signature.empty()) putField(fields, 8, 'g', body.signature);
  static std::atomic<std::uint32_t> serial{0};
  Bytes all;
  all.text = "l";
  all.put(type);
  all.put(std::uint8_t{1});
  all.put(std::uint8_t{1});
  all.put(static_cast<std::uint32_t>(body.bytes.size()));
  all.put(++serial);
  all.put(static_cast<std::uint32_t>(fields.text.size()));
  all.text += fields.text;
  all.pad(8);
  return all.text + body.bytes;
}

std::string answerBytes(const Answer& answer, std::uint32_t serial, std::uint32_t descriptors) {
  const bool isError = answer.kind == Answer::Kind::error;
  Bytes fields;
  putNumber(fields, 5, serial);
  if (isError) putField(fields, 4, 's', answer.errorName);
  putField(fields, 7, 's', kDriver);
  if (descriptors > 0) putNumber(fields, 9, descriptors);
  return message(isError ? 3 : 2, std::move(fields), answer.body);
}

std::uint32_t readU32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::size_t align(std::size_t at, std::size_t to) { return (at + to - 1) / to * to; }

// Handles only well-formed messages, as sd-bus writes them. Takes the message off `input`.
std::optional<Call> takeCall(std::string& input) {
  if (input.size() < 16) return std::nullopt;
  const std::size_t fieldsEnd = 16 + readU32(input, 12);
  const std::size_t bodyAt = align(fieldsEnd, 8);
  const std::size_t end = bodyAt + readU32(input, 4);
  if (input.size() < end) return std::nullopt;
  Call call{readU32(input, 8), "", "", "", input.substr(bodyAt, end - bodyAt)};
  bool hasText = false;
  for (std::size_t at = 16; at < fieldsEnd;) {
    at = align(at, 8);
    const auto code = static_cast<std::uint8_t>(input[at]);
    const char type = input[at + 2];
    at += 4;
    if (type == 'g') {
      const auto length = static_cast<std::uint8_t>(input[at]);
      if (code == 8) hasText = input[at + 1] == 's';
      at += 2U + length;
    } else {
      at = align(at, 4);
      const std::uint32_t value = readU32(input, at);
      at += 4;
      if (type == 'u') continue;
      if (code == 1) call.path = input.substr(at, value);
      if (code == 3) call.member = input.substr(at, value);
      at += value + 1;
    }
  }
  if (hasText) call.text = input.substr(bodyAt + 4, readU32(input, bodyAt));
  input.erase(0, end);
  return call;
}

void sendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// The first bytes carry `count` descriptors, all of them `passed`.
void sendWithDescriptors(int fd, std::string_view bytes, int passed, std::uint32_t count) {
  const std::vector<int> descriptors(count, passed);
  const std::size_t length = descriptors.size() * sizeof(int);
  std::vector<char> control(CMSG_SPACE(length));
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(length);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), length);
  const ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL);
  if (sent > 0) sendAll(fd, bytes.substr(static_cast<std::size_t>(sent)));
}

}  // namespace

struct Bus::Peer {
  int fd;
  std::string input;
  bool isAuthenticated = false;
  bool takesDescriptors = false;
};

Bus::Bus(std::string path, Answerer answer, Manner manner)
    : path_(std::move(path)), answer_(std::move(answer)), manner_(manner) {
  listenFd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  wakeFd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  unlink(path_.c_str());
  if (bind(listenFd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listenFd_, 16) != 0)
    std::abort();
  thread_ = std::thread([this] { run(); });
}

Bus::~Bus() {
  isEnding_ = true;
  eventfd_write(wakeFd_, 1);
  thread_.join();
  close(listenFd_);
  close(wakeFd_);
  unlink(path_.c_str());
}

void Bus::emit(const SignalName& name, const Body& body, int times) {
  Bytes fields;
  putField(fields, 1, 'o', name.path);
  putField(fields, 2, 's', name.interface);
  putField(fields, 3, 's', name.member);
  putField(fields, 7, 's', name.sender);
  const std::string signal = message(4, std::move(fields), body);
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < times; ++i) outgoing_ += signal;
  eventfd_write(wakeFd_, 1);
}

int Bus::count(const std::string& member) {
  const std::lock_guard lock(mutex_);
  return counts_[member];
}

void Bus::run() {
  std::vector<Peer> peers;
  while (!isEnding_) {
    std::vector<pollfd> entries{{listenFd_, POLLIN, 0}, {wakeFd_, POLLIN, 0}};
    for (const Peer& peer : peers) entries.push_back({peer.fd, POLLIN, 0});
    poll(entries.data(), entries.size(), -1);
    eventfd_t ignored = 0;
    eventfd_read(wakeFd_, &ignored);
    for (std::size_t i = entries.size(); i-- > 2;) {
      if (entries[i].revents == 0 || serve(peers[i - 2])) continue;
      close(peers[i - 2].fd);
      peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i - 2));
    }
    flushSignals(peers);
    if (entries[0].revents != 0)
      if (const int fd = accept4(listenFd_, nullptr, nullptr, SOCK_CLOEXEC); fd >= 0)
        peers.push_back({fd, "", false, false});
  }
  for (const Peer& peer : peers) close(peer.fd);
}

void Bus::flushSignals(std::vector<Peer>& peers) {
  std::string signals;
  {
    const std::lock_guard lock(mutex_);
    signals.swap(outgoing_);
  }
  for (const Peer& peer : peers)
    if (peer.isAuthenticated) sendAll(peer.fd, signals);
}

// Returns false when the connection is to be closed.
bool Bus::serve(Peer& peer) {
  char buffer[65536];
  const ssize_t got = recv(peer.fd, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  peer.input.append(buffer, static_cast<std::size_t>(got));
  if (manner_ == Manner::mute) return true;
  if (!peer.isAuthenticated && !authenticate(peer)) return true;
  while (const auto call = takeCall(peer.input))
    if (!answerCall(peer, *call)) return false;
  return true;
}

// Returns true when binary messages follow.
bool Bus::authenticate(Peer& peer) {
  for (;;) {
    const std::size_t end = peer.input.find("\r\n");
    if (end == std::string::npos) return false;
    std::string line = peer.input.substr(0, end);
    peer.input.erase(0, end + 2);
    if (!line.empty() && line[0] == '\0') line.erase(0, 1);
    if (line == "BEGIN") return peer.isAuthenticated = true;
    if (manner_ == Manner::rejecting)
      sendAll(peer.fd, "REJECTED EXTERNAL\r\n");
    else if (line == "AUTH EXTERNAL")
      sendAll(peer.fd, "DATA\r\n");
    else if (line.starts_with("AUTH") || line == "DATA")
      sendAll(peer.fd, "OK 0123456789abcdef0123456789abcdef\r\n");
    else {
      peer.takesDescriptors = line == "NEGOTIATE_UNIX_FD";
      sendAll(peer.fd, "AGREE_UNIX_FD\r\n");
    }
  }
}

bool Bus::answerCall(Peer& peer, const Call& call) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[call.member];
  }
  Answer answer;
  if (call.member == "Hello") {
    Bytes name;
    name.putText(":1.1");
    answer.body = {"s", name.text};
  } else if (call.member != "AddMatch" && call.member != "RemoveMatch") {
    answer = answer_(call);
  }
  if (answer.kind == Answer::Kind::hangUp) return false;
  if (answer.kind == Answer::Kind::nothing) return true;
  const std::uint32_t descriptors = peer.takesDescriptors ? answer.descriptors : 0;
  const std::string bytes =
      answer.kind == Answer::Kind::raw ? answer.raw : answerBytes(answer, call.serial, descriptors);
  if (descriptors > 0) sendWithDescriptors(peer.fd, bytes, wakeFd_, descriptors);
  for (int i = descriptors > 0 ? 1 : 0; i < answer.copies; ++i) sendAll(peer.fd, bytes);
  return true;
}

}  // namespace fake
