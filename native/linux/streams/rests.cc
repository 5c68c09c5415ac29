// Unsent parts of frames by stream, and the reports of them.
#include "linux/streams/rests.h"

#include <utility>

namespace hostwire {

void Rests::keep(std::uint32_t slot, std::shared_ptr<const Frame> frame, std::size_t sent) {
  rests_.insert_or_assign(slot, Rest{std::move(frame), sent});
  mailbox_.bufferedBytes += of(slot).size();
  list(slot);
}

std::string_view Rests::of(std::uint32_t slot) const {
  const auto found = rests_.find(slot);
  if (found == rests_.end()) return {};
  const auto& [frame, offset] = found->second;
  return frame->bytes(table_.at(slot).framing()).substr(offset);
}

void Rests::advance(std::uint32_t slot, std::size_t sent) {
  rests_.at(slot).offset += sent;
  mailbox_.bufferedBytes -= sent;
}

void Rests::drop(std::uint32_t slot) {
  const auto found = rests_.find(slot);
  if (found == rests_.end()) return;
  mailbox_.bufferedBytes -= of(slot).size();
  rests_.erase(found);
  list(slot);
}

std::vector<BufferedBytes> Rests::takeChanges() {
  std::vector<BufferedBytes> changes;
  for (const std::uint32_t slot : std::exchange(changed_, {})) {
    Stream& stream = table_.at(slot);
    // A stream that ended keeps nothing; its slot may belong to another by now, which has its own entry.
    if (!std::exchange(stream.isBufferedListed, false) || stream.fd < 0) continue;
    changes.push_back({StreamTable::idOf(slot, stream), static_cast<std::uint32_t>(of(slot).size())});
  }
  return changes;
}

void Rests::list(std::uint32_t slot) {
  if (!std::exchange(table_.at(slot).isBufferedListed, true)) changed_.push_back(slot);
}

}  // namespace hostwire
