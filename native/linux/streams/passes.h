// The order in which streams are visited. A pass visits the streams of one channel once; a newer sample that
// arrives during the pass reaches the remaining streams by this pass, and the others by the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "linux/streams/table.h"

namespace hostwire {

class Passes {
 public:
  explicit Passes(StreamTable& table) : table_(table) {}

  // Notes that streams of the channel may need something.
  void mark(std::uint32_t channel);
  void markAll();
  // Returns whether streams are still to be visited.
  bool hasDue() const { return place_ > 0 || !due_.empty(); }
  bool hasDue(std::uint32_t channel) const {
    return table_.channels()[channel].isDue || (place_ > 0 && channel_ == channel);
  }
  // Returns the slot to visit; nothing when no channel is due, and at the end of a pass unless another
  // `mayBegin`.
  std::optional<std::uint32_t> next(bool mayBegin);

 private:
  StreamTable& table_;
  // In turn, so that a channel that is always due does not delay the others.
  std::deque<std::uint32_t> due_;
  // The streams of `channel_` below this place are still to be visited. It runs from the end to the
  // beginning, so that a removal, which moves the last stream to the free place, skips none.
  std::uint32_t channel_ = 0;
  std::size_t place_ = 0;
};

}  // namespace hostwire
