// Sockets of event streams stay with Node.js: on Windows it does not show their handles.
#include "host/streams.h"

#include "host/error.h"

namespace hostwire {

struct StreamWriter::State {};

bool canOwnStreams() { return false; }
SendMethod findSendMethod() { return SendMethod::kSend; }
StreamWriter::StreamWriter(const StreamOptions&, std::function<void()>) {}
StreamWriter::~StreamWriter() = default;
StreamId StreamWriter::adopt(int, std::uint8_t, std::uint32_t, StreamFraming) {
  throw HostError(std::errc::not_supported, "adopt a stream");
}
void StreamWriter::publish(std::uint8_t, std::uint32_t, std::string_view) {}
void StreamWriter::cut(std::span<const StreamId>) {}
void StreamWriter::end(std::chrono::milliseconds) {}
void StreamWriter::close() {}
StreamNews StreamWriter::takeNews() { return {}; }
StreamCounters StreamWriter::counters() const { return {}; }
SendMethod StreamWriter::method() const { return SendMethod::kAuto; }

}  // namespace hostwire
