// Sockets of event streams stay with Node.js: on Windows it does not show their handles.
#include "host/streams.h"

#include "host/error.h"

namespace hostwire {

bool canOwnStreams() { return false; }
std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions&, std::function<void()>) {
  throw HostError(std::errc::not_supported, "own streams");
}
SendMethod findSendMethod() { return SendMethod::kSend; }
Finding describeStreams() {
  return Finding::works("streams", "Node's sockets: on Windows Node.js does not show their handles");
}

}  // namespace hostwire
