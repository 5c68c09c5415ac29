// Sets nothing on the listening socket: Windows has neither a low-water mark for unsent bytes nor a timeout
// for silent peers.
#include "host/listener.h"

namespace hostwire {

int tuneListener(std::uint16_t, const ListenerOptions&) { return 0; }

}  // namespace hostwire
