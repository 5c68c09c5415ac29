// Event streams whose sockets the addon owns: one thread sends each of them its head and its first event, and
// each sample to all of them. Knows chunk marks and nothing else of HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/finding.h"

namespace hostwire {

// How bytes leave: one send(2) per stream, or io_uring with one system call per batch of them.
enum class SendMethod { kAuto, kSend, kIoUring };

// The end of each event on the wire: a complete chunk of HTTP/1.1, or just the bytes for HTTP/1.0.
enum class StreamFraming { kChunked, kPlain };

struct StreamOptions {
  SendMethod method = SendMethod::kAuto;  // kAuto: io_uring where the kernel permits it
  // After this long without a byte a comment keeps proxies from closing the stream.
  std::chrono::milliseconds silence{15'000};
  // A full socket that takes nothing for this long is cut; 0: never, where others watch over silent peers.
  std::chrono::milliseconds stallLimit{0};
};

// How a stream begins.
struct StreamOpening {
  // Streams of one channel are sent the same events. Channels are numbered from 0 without large gaps.
  std::uint32_t channel = 0;
  std::uint32_t sent = 0;  // number of the newest sample that it has had with `event`, or is not to have
  StreamFraming framing = StreamFraming::kChunked;
  std::string_view head;   // of the answer, with its blank line
  std::string_view event;  // with its blank line
};

// One sample as it is published.
struct StreamSample {
  std::uint32_t number = 0;
  std::string_view event;  // its blank line included
  // For a stream that missed the sample before; empty: the same event.
  std::string_view whole;
};

// Its slot in the lower 20 bits and the slot's generation above. Not used again before its end was taken from
// takeNews().
using StreamId = std::uint32_t;
constexpr std::uint32_t kStreamSlotBits = 20;

// `bytes` of an event are kept in user memory for a stream whose socket is full; 0: no longer.
struct KeptBytes {
  StreamId id = 0;
  std::uint32_t bytes = 0;
};

// What happened since the last takeNews(). `kept` comes before `closed`.
struct StreamNews {
  std::vector<KeptBytes> kept;
  std::vector<StreamId> closed;
  bool hasEnded = false;     // end() is complete
  std::size_t cutAtEnd = 0;  // those that did not take their rest in time
};

struct StreamCounters {
  std::size_t streams = 0;
  std::size_t fullStreams = 0;
  std::size_t keptBytes = 0;
  // Since the start: samples that streams were sent, and those that full ones were never sent.
  std::uint64_t sentEvents = 0;
  std::uint64_t skippedEvents = 0;
};

// Its functions are called on one thread, and none of them waits for the network. The writer's own thread
// exists only while there are streams.
class StreamWriter {
 public:
  // close().
  virtual ~StreamWriter() = default;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // Owns a duplicate of the connected socket `fd` from now on, and sends it `opening` before anything else;
  // the caller closes `fd` without a shutdown(2). Throws HostError: EMFILE, ENFILE, EBADF, ENOMEM, and EAGAIN
  // without a thread; ECANCELED after end(); ENOSPC with 2^20 streams.
  virtual StreamId adopt(int fd, const StreamOpening& opening) = 0;
  // Sends `sample` to every stream of `channel` which has had no sample of this number or a higher one. One
  // of the same number again reaches those which joined meanwhile. Does nothing without streams.
  virtual void publish(std::uint32_t channel, const StreamSample& sample) = 0;
  // Whether some stream may miss the sample that is published next: one is full, or the last one is still
  // being sent.
  virtual bool mayMiss() const = 0;
  // Keeps no event of `channel`. Once it has no streams, its number may be given to another.
  virtual void forget(std::uint32_t channel) = 0;
  // Every stream of `channel` is sent its rest and a last chunk.
  virtual void finish(std::uint32_t channel) = 0;
  // Resets these connections; ids that have ended are ignored.
  virtual void cut(std::span<const StreamId> ids) = 0;
  // Every stream is sent its rest and a last chunk; what has not taken it after `limit` is reset. Then
  // hasEnded is reported.
  virtual void end(std::chrono::milliseconds limit) = 0;
  // Closes everything at once and joins the thread, which takes milliseconds: it never blocks.
  virtual void close() = 0;

  virtual StreamNews takeNews() = 0;
  virtual StreamCounters counters() const = 0;
  // The method in use, or kAuto before the first stream.
  virtual SendMethod method() const = 0;

 protected:
  StreamWriter() = default;
};

// Whether this platform has a StreamWriter.
bool canOwnStreams();
// `onNews` is called on the writer's thread when there is something for takeNews(), and once until it is
// taken. Throws HostError where this platform has no writer.
std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions& options, std::function<void()> onNews);
// What kAuto chooses here. Makes a small ring to see.
SendMethod findSendMethod();
// Of what sends events to the subscribers of Node's engine here, and why it is not io_uring.
Finding describeStreams();

}  // namespace hostwire
