// Event streams whose sockets the addon owns: one thread sends each sample to all of them. Knows chunk marks
// and nothing else of HTTP; the head and the first event have left before a socket comes here.
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

  // Owns a duplicate of the connected socket `fd` from now on, as a stream of `view` that has had all samples
  // up to number `sent`; the caller closes `fd` without a shutdown(2). Throws HostError: EMFILE, ENFILE,
  // EBADF, ENOMEM, and EAGAIN without a thread; ECANCELED after end(); ENOSPC with 2^20 streams.
  virtual StreamId adopt(int fd, std::uint8_t view, std::uint32_t sent, StreamFraming framing) = 0;
  // Sends `event`, its blank line included, to every stream of `view` which has had no sample of this
  // number or a higher one. One of the same number again reaches those which joined meanwhile. Does nothing
  // without streams.
  virtual void publish(std::uint8_t view, std::uint32_t number, std::string_view event) = 0;
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
