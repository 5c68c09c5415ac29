// The parts of frames that full sockets have not taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "linux/streams/frame.h"
#include "linux/streams/mailbox.h"
#include "linux/streams/table.h"

namespace hostwire {

class Rests {
 public:
  Rests(StreamTable& table, Mailbox& mailbox) : table_(table), mailbox_(mailbox) {}

  // Keeps what follows the first `sent` bytes of `frame`, and nothing else for this stream.
  void keep(std::uint32_t slot, std::shared_ptr<const Frame> frame, std::size_t sent);
  // Returns the bytes that are kept for a stream; empty for none.
  std::string_view of(std::uint32_t slot) const;
  // Drops the first bytes of what is kept, which were sent.
  void advance(std::uint32_t slot, std::size_t sent);
  void drop(std::uint32_t slot);
  bool hasChanges() const { return !changed_.empty(); }
  // Returns the streams for which something was kept or dropped since the last call.
  std::vector<BufferedBytes> takeChanges();

 private:
  struct Rest {
    std::shared_ptr<const Frame> frame;
    std::size_t offset;
  };

  void list(std::uint32_t slot);

  StreamTable& table_;
  Mailbox& mailbox_;
  std::unordered_map<std::uint32_t, Rest> rests_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace hostwire
