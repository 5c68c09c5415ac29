// Both ends of a stream over loopback with small buffers, and what its peer has received.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace streams {

// Whether `is` becomes true: a limit of minutes, which only guards against hanging. Over buffers this small
// the kernel drops segments that do not fit, and sends them again only after seconds.
inline bool comes(const std::function<bool()>& is) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (!is()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

// An event that can be recognized: another view, number or length makes other bytes everywhere.
inline std::string eventOf(std::uint32_t view, std::uint32_t number, std::size_t padding) {
  const char letter = static_cast<char>('a' + (view * 7 + number) % 26);
  return "data: " + std::to_string(view) + " " + std::to_string(number) + " " + std::string(padding, letter) +
         "\n\n";
}

// The first event of a stream, as it is and as a chunk.
constexpr std::string_view kOpening = "data: first\n\n";
constexpr std::string_view kOpeningChunk = "d\r\ndata: first\n\n\r\n";

// The parsed bytes of a peer.
struct Received {
  std::vector<std::uint32_t> numbers;
  int openings = 0;
  int comments = 0;
  bool hasEnd = false;
  std::string fault;     // the first thing that is wrong
  std::size_t left = 0;  // bytes of an event that is not complete
};

inline void takeEvent(Received& received, std::string_view event, std::uint32_t view) {
  if (event == kOpening) {
    if (received.openings++ > 0 || !received.numbers.empty() || received.comments > 0)
      received.fault = "the first event is not first";
    return;
  }
  if (event == ":\n\n") {
    ++received.comments;
    return;
  }
  const std::size_t at = event.find(' ', 6);
  const std::size_t end = at == std::string_view::npos ? at : event.find(' ', at + 1);
  if (end == std::string_view::npos) {
    received.fault = "not an event";
    return;
  }
  std::uint32_t number = 0;
  std::from_chars(event.data() + at + 1, event.data() + end, number);
  if (event.size() < end + 3 || event != eventOf(view, number, event.size() - end - 3))
    received.fault = "torn, or of another view: " + std::string(event.substr(0, 40));
  if (!received.numbers.empty() && received.numbers.back() >= number)
    received.fault = "number " + std::to_string(number) + " after " + std::to_string(received.numbers.back());
  received.numbers.push_back(number);
}

// Each event in one chunk of its own.
inline Received parseChunks(std::string_view bytes, std::uint32_t view) {
  Received received;
  while (received.fault.empty() && !bytes.empty()) {
    if (received.hasEnd) {
      received.fault = "bytes after the end";
      break;
    }
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size, 16);
    const auto digits = static_cast<std::size_t>(end - bytes.data());
    const std::size_t whole = digits + 2 + size + 2;
    const std::string_view marks = bytes.substr(digits, 2);
    if (error != std::errc{} || marks != std::string_view("\r\n").substr(0, marks.size())) {
      received.fault = "not a chunk: " + std::string(bytes.substr(0, 20));
      break;
    }
    if (bytes.size() < whole) {
      received.left = bytes.size();
      break;
    }
    if (bytes.substr(whole - 2, 2) != "\r\n") received.fault = "a chunk without its end";
    if (size == 0)
      received.hasEnd = true;
    else
      takeEvent(received, bytes.substr(digits + 2, size), view);
    bytes.remove_prefix(whole);
  }
  return received;
}

// HTTP/1.0: a blank line ends each event, and the connection's end the body.
inline Received parsePlain(std::string_view bytes, std::uint32_t view) {
  Received received;
  while (received.fault.empty() && !bytes.empty()) {
    const std::size_t end = bytes.find("\n\n");
    if (end == std::string_view::npos) {
      received.left = bytes.size();
      break;
    }
    takeEvent(received, bytes.substr(0, end + 2), view);
    bytes.remove_prefix(end + 2);
  }
  return received;
}

class Peer {
 public:
  // `receiveBytes`: of its kernel buffer; 0: as the kernel likes.
  explicit Peer(int receiveBytes = 0, int sendBytes = 0) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(listener, reinterpret_cast<sockaddr*>(&address), length);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receiveBytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receiveBytes, sizeof receiveBytes);
    connect(fd_, reinterpret_cast<sockaddr*>(&address), length);
    served_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (sendBytes > 0) setsockopt(served_, SOL_SOCKET, SO_SNDBUF, &sendBytes, sizeof sendBytes);
    close(listener);
    fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  ~Peer() {
    hangUp();
    closeServed();
  }
  Peer(Peer&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        served_(std::exchange(other.served_, -1)),
        isOver_(other.isOver_),
        bytes_(std::move(other.bytes_)) {}
  Peer& operator=(Peer&&) = delete;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // The service's end, which it closes once the writer has a duplicate.
  int served() const { return served_; }
  void closeServed() {
    if (served_ >= 0) close(std::exchange(served_, -1));
  }
  int fd() const { return fd_; }

  // Reads at most this many bytes; false when there is nothing now.
  bool read(std::size_t most = SIZE_MAX) {
    bool hasRead = false;
    while (most > 0 && !isOver_) {
      char buffer[16384];
      const ssize_t got = recv(fd_, buffer, std::min(most, sizeof buffer), 0);
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) {
        isOver_ = true;
        isReset_ = got < 0;
        break;
      }
      bytes_.append(buffer, static_cast<std::size_t>(got));
      most -= static_cast<std::size_t>(got);
      hasRead = true;
    }
    return hasRead;
  }
  void hangUp() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  bool isOpen() const { return fd_ >= 0; }
  // The connection has ended.
  bool isOver() const { return isOver_; }
  bool isReset() const { return isReset_; }
  const std::string& bytes() const { return bytes_; }

 private:
  int fd_ = -1;
  int served_ = -1;
  bool isOver_ = false;
  bool isReset_ = false;
  std::string bytes_;
};

// Its events so far.
inline Received parse(const Peer& peer, std::uint32_t view, bool isPlain) {
  return isPlain ? parsePlain(peer.bytes(), view) : parseChunks(peer.bytes(), view);
}

}  // namespace streams
