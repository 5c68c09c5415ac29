// The streams that the writer's thread owns: one small record each, and one list of slots per channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/streams.h"
#include "linux/streams/frame.h"

namespace hostwire {

// 32 bytes; with its entry in a channel's list 36.
struct Stream {
  int fd = -1;                // -1: the slot is free
  std::uint32_t place = 0;    // in its channel's list
  std::uint32_t sent = 0;     // number of the newest sample that it has received
  std::uint32_t wroteAt = 0;  // last write, or when it became full, in tenths of a second
  std::uint32_t inputBytes = 0;
  std::uint32_t channel = 0;
  std::uint16_t generation = 0;
  bool isPlain = false;
  bool isFull = false;            // the kernel did not take all of the last write
  bool isWaiting = false;         // epoll reports room
  bool isLastSent = false;        // the last chunk has been begun
  bool isBufferedListed = false;  // its buffered bytes have changed and must be reported

  StreamFraming framing() const { return isPlain ? StreamFraming::kPlain : StreamFraming::kChunked; }
};

// One sample: the frame for streams that received the previous one, and the frame for all others if that
// differs.
struct Frames {
  std::shared_ptr<const Frame> event;
  std::shared_ptr<const Frame> whole;
};

// The newest sample of a channel, and the one before it unless that was sent before the newest came: two
// samples of a watched machine may come within a millisecond.
struct Samples {
  Frames earlier;
  Frames newest;

  // Ignores a sample older than the newest one, and replaces one with the same number.
  void add(Frames frames, bool isNewestSent) {
    const std::uint32_t last = newest.event ? newest.event->number() : 0;
    if (last > frames.event->number()) return;
    if (last < frames.event->number()) earlier = isNewestSent ? Frames{} : std::move(newest);
    newest = std::move(frames);
  }
};

struct StreamChannel {
  std::vector<std::uint32_t> slots;
  Samples samples;
  bool isDue = false;  // some of its streams may need something; it is in the list of due channels
  bool isFinished = false;
};

class StreamTable {
 public:
  void add(std::uint32_t slot, const Stream& stream);
  void remove(std::uint32_t slot);
  Stream& at(std::uint32_t slot) { return streams_[slot]; }
  // Returns null unless the stream with this id exists.
  Stream* find(StreamId id);
  StreamChannel& channelOf(const Stream& stream) { return channels_[stream.channel]; }
  std::vector<StreamChannel>& channels() { return channels_; }
  std::size_t slots() const { return streams_.size(); }
  std::size_t size() const { return size_; }

  static StreamId idOf(std::uint32_t slot, const Stream& stream) {
    return slot | static_cast<StreamId>(stream.generation) << kStreamSlotBits;
  }
  static std::uint32_t slotOf(StreamId id) { return id & ((1U << kStreamSlotBits) - 1); }

 private:
  std::vector<Stream> streams_;
  std::vector<StreamChannel> channels_;
  std::size_t size_ = 0;
};

}  // namespace hostwire
