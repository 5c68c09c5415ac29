// Passes over the streams of the channels that are due.
#include "linux/streams/passes.h"

#include <algorithm>
#include <utility>

namespace hostwire {

void Passes::mark(std::uint32_t channel) {
  if (!std::exchange(table_.channels()[channel].isDue, true)) due_.push_back(channel);
}

void Passes::markAll() {
  const auto& channels = table_.channels();
  for (std::uint32_t channel = 0; channel < channels.size(); ++channel)
    if (!channels[channel].slots.empty()) mark(channel);
}

std::optional<std::uint32_t> Passes::next(bool mayBegin) {
  for (;;) {
    auto& channels = table_.channels();
    // Streams of the channel may have ended since.
    if (place_ > 0) place_ = std::min(place_, channels[channel_].slots.size());
    if (place_ > 0) return channels[channel_].slots[--place_];
    if (!mayBegin || due_.empty()) return std::nullopt;
    channel_ = due_.front();
    due_.pop_front();
    channels[channel_].isDue = false;
    place_ = channels[channel_].slots.size();
  }
}

}  // namespace hostwire
