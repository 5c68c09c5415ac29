// Random histories of a stream writer, and what every peer may have received after them.
#pragma once

#include <map>
#include <set>

#include "host/streams.h"

namespace streams {

// A writer, and all that it has reported.
struct Watched {
  explicit Watched(const hostwire::StreamOptions& options)
      : owner(hostwire::makeStreamWriter(options, [] {})), writer(*owner) {}

  void takeNews() {
    const auto news = writer.takeNews();
    for (const auto& [id, bytes] : news.buffered) kept[id] = bytes;
    closed.insert(news.closed.begin(), news.closed.end());
    hasEnded = hasEnded || news.hasEnded;
    cutAtEnd += news.cutAtEnd;
  }

  const std::unique_ptr<hostwire::StreamWriter> owner;
  hostwire::StreamWriter& writer;
  std::map<hostwire::StreamId, std::uint32_t> kept;
  std::set<hostwire::StreamId> closed;
  bool hasEnded = false;
  std::size_t cutAtEnd = 0;
};

// Streams come, stall, read a little, hang up and are cut while samples are published; then all end.
void testHistory(hostwire::SendMethod method, unsigned seed);
// Other threads open and close sockets and files at the same time: none of them may get a byte, or be closed.
void testReuse(hostwire::SendMethod method);

}  // namespace streams
