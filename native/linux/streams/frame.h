// One event as sent on the wire, made once and shared by all streams that receive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "host/streams.h"

namespace hostwire {

class Frame {
 public:
  // Makes a frame of `event` with its blank line, and the number of its sample.
  static std::shared_ptr<const Frame> event(std::string_view event, std::uint32_t number);
  // Makes a frame of the unsent start of a stream: bytes that are not a chunk.
  static std::shared_ptr<const Frame> opening(std::string_view head, std::string_view chunk,
                                              std::uint32_t number);
  // Makes a comment, which readers of event streams ignore.
  static std::shared_ptr<const Frame> comment();
  // Makes the end of a body: empty if it is not chunked.
  static std::shared_ptr<const Frame> last();

  std::string_view bytes(StreamFraming framing) const {
    const std::string_view all = bytes_;
    return framing == StreamFraming::kChunked ? all : all.substr(head_, body_);
  }
  std::uint32_t number() const { return number_; }

 private:
  Frame(std::string_view body, std::uint32_t number);
  Frame(std::uint32_t number, std::string bytes)
      : bytes_(std::move(bytes)), body_(bytes_.size()), number_(number) {}

  std::string bytes_;
  std::size_t head_ = 0;  // bytes of the chunk's size line
  std::size_t body_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace hostwire
