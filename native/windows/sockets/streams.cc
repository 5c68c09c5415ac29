// Sockets of event streams stay with Node.js, which does not expose their handles on Windows.
#include "host/streams.h"

#include "host/error.h"
#include "host/paused_polls.h"

namespace hostwire {

std::unique_ptr<PausedPolls> watchPolls(void*) {
  throw HostError(std::errc::not_supported, "look at the handles of the event loop");
}
bool hasUnacknowledged(int) { return false; }
bool canOwnStreams() { return false; }
std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions&, std::function<void()>) {
  throw HostError(std::errc::not_supported, "own streams");
}
SendMethod findSendMethod() { return SendMethod::kSend; }
Finding describeStreams() {
  return Finding::works("streams", "Node's sockets: on Windows Node.js does not show their handles");
}

}  // namespace hostwire
