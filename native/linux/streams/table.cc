// Records by slot, and slots by channel.
#include "linux/streams/table.h"

#include <algorithm>

namespace hostwire {

void StreamTable::add(std::uint32_t slot, const Stream& stream) {
  // May throw, so everything grows before anything changes.
  if (channels_.size() <= stream.channel) channels_.resize(stream.channel + std::size_t{1});
  if (streams_.size() <= slot) streams_.resize(slot + std::size_t{1});
  auto& list = channels_[stream.channel].slots;
  list.push_back(slot);
  streams_[slot] = stream;
  streams_[slot].place = static_cast<std::uint32_t>(list.size() - 1);
  ++size_;
}

void StreamTable::remove(std::uint32_t slot) {
  Stream& stream = streams_[slot];
  auto& list = channelOf(stream).slots;
  list[stream.place] = list.back();
  streams_[list.back()].place = stream.place;
  list.pop_back();
  stream.fd = -1;
  --size_;
}

Stream* StreamTable::find(StreamId id) {
  const std::uint32_t slot = slotOf(id);
  if (slot >= streams_.size()) return nullptr;
  Stream& stream = streams_[slot];
  return stream.fd >= 0 && idOf(slot, stream) == id ? &stream : nullptr;
}

}  // namespace hostwire
