// Chunks of HTTP/1.1 (RFC 9112, 7.1).
#include "linux/streams/frame.h"

#include <array>
#include <charconv>
#include <utility>

namespace hostwire {

Frame::Frame(std::string_view body, std::uint32_t number) : body_(body.size()), number_(number) {
  std::array<char, 16> size{};
  const char* const end = std::to_chars(size.data(), size.data() + size.size(), body_, 16).ptr;
  const std::string_view digits(size.data(), static_cast<std::size_t>(end - size.data()));
  head_ = digits.size() + 2;
  bytes_.reserve(head_ + body_ + 2);
  bytes_.append(digits).append("\r\n").append(body).append("\r\n");
}

std::shared_ptr<const Frame> Frame::event(std::string_view event, std::uint32_t number) {
  return std::shared_ptr<const Frame>(new Frame(event, number));
}

std::shared_ptr<const Frame> Frame::opening(std::string_view head, std::string_view chunk,
                                            std::uint32_t number) {
  std::string bytes(head);
  bytes.append(chunk);
  return std::shared_ptr<const Frame>(new Frame(number, std::move(bytes)));
}

std::shared_ptr<const Frame> Frame::comment() { return std::shared_ptr<const Frame>(new Frame(":\n\n", 0)); }

std::shared_ptr<const Frame> Frame::last() { return std::shared_ptr<const Frame>(new Frame("", 0)); }

}  // namespace hostwire
