// Event streams whose sockets the addon owns: one thread sends each of them its head and first event, and
// each sample to all of them. Of HTTP it knows chunk framing only.
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

// How bytes are sent: one send(2) per stream, or io_uring with one system call per batch.
enum class SendMethod { kAuto, kSend, kIoUring };

// Framing of each event on the wire: a complete chunk of HTTP/1.1, or the plain bytes for HTTP/1.0.
enum class StreamFraming { kChunked, kPlain };

struct StreamOptions {
  SendMethod method = SendMethod::kAuto;  // kAuto: io_uring where the kernel permits it
  // After this long without a byte a comment is sent, so that proxies do not close the stream.
  std::chrono::milliseconds silence{15'000};
  // A full socket that takes nothing for this long is cut; 0: never.
  std::chrono::milliseconds stallLimit{0};
};

// The start of a stream.
struct StreamOpening {
  // Streams of one channel are sent the same events. Channels are numbered from 0 without large gaps.
  std::uint32_t channel = 0;
  std::uint32_t sent = 0;  // number of the newest sample in `event`, or of one that must not be sent
  StreamFraming framing = StreamFraming::kChunked;
  std::string_view head;   // of the answer, with its blank line
  std::string_view event;  // with its blank line
};

// One published sample.
struct StreamSample {
  std::uint32_t number = 0;
  std::string_view event;  // its blank line included
  // For a stream that missed the previous sample; empty: the same event.
  std::string_view whole;
};

// The slot in the lower 20 bits and the slot's generation above. Not reused before its end was taken from
// takeNews().
using StreamId = std::uint32_t;
constexpr std::uint32_t kStreamSlotBits = 20;

// `bytes` of an event are buffered for a stream whose socket is full; 0: none any more.
struct BufferedBytes {
  StreamId id = 0;
  std::uint32_t bytes = 0;
};

// Events since the last takeNews(). `buffered` precedes `closed`.
struct StreamNews {
  std::vector<BufferedBytes> buffered;
  std::vector<StreamId> closed;
  bool hasEnded = false;     // end() is complete
  std::size_t cutAtEnd = 0;  // streams that did not take their rest in time
};

struct StreamCounters {
  std::size_t streams = 0;
  std::size_t fullStreams = 0;
  std::size_t bufferedBytes = 0;
  // Since the start: samples sent to streams, and samples that full streams never received.
  std::uint64_t sentEvents = 0;
  std::uint64_t skippedEvents = 0;
};

// All functions are called on one thread, and none of them waits for the network. The writer's own thread
// exists only while there are streams.
class StreamWriter {
 public:
  // Calls close().
  virtual ~StreamWriter() = default;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // Takes ownership of a duplicate of the connected socket `fd` and sends it `opening` before anything else;
  // the caller closes `fd` without a shutdown(2). Throws HostError: EMFILE, ENFILE, EBADF, ENOMEM, and EAGAIN
  // without a thread; ECANCELED after end(); ENOSPC with 2^20 streams.
  virtual StreamId adopt(int fd, const StreamOpening& opening) = 0;
  // Sends `sample` to every stream of `channel` that has received no sample of this or a higher number. If
  // the previous one is not sent to all yet, the others receive it first; of more samples they receive the
  // newest. Publishing the same number again reaches streams that have joined since. Does nothing without
  // streams.
  virtual void publish(std::uint32_t channel, const StreamSample& sample) = 0;
  // Returns whether some stream may miss the next published sample: one is full, or the last sample is still
  // being sent.
  virtual bool mayMiss() const = 0;
  // Drops the kept events of `channel`. Once it has no streams, its number may be reused.
  virtual void forget(std::uint32_t channel) = 0;
  // Sends every stream of `channel` its rest and a last chunk.
  virtual void finish(std::uint32_t channel) = 0;
  // Resets these connections; ids that have ended are ignored.
  virtual void cut(std::span<const StreamId> ids) = 0;
  // Sends every stream its rest and a last chunk; streams that have not taken it after `limit` are reset.
  // Then hasEnded is reported.
  virtual void end(std::chrono::milliseconds limit) = 0;
  // Closes all streams immediately and joins the thread, which never blocks, within milliseconds.
  virtual void close() = 0;

  virtual StreamNews takeNews() = 0;
  virtual StreamCounters counters() const = 0;
  // Returns the method in use, or kAuto before the first stream.
  virtual SendMethod method() const = 0;

 protected:
  StreamWriter() = default;
};

// Returns whether this platform has a StreamWriter.
bool canOwnStreams();
// `onNews` is called on the writer's thread when takeNews() has something to return, and not again until it
// is called. Throws HostError where this platform has no writer.
std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions& options, std::function<void()> onNews);
// Returns the method that kAuto chooses here. Creates a small ring to find out.
SendMethod findSendMethod();
// Returns the row about sending events to subscribers of Node's engine, and why io_uring is not used.
Finding describeStreams();

}  // namespace hostwire
