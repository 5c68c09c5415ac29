// Sets nothing on the listening socket: Windows has no low-water mark for unsent bytes.
#include "host/listener.h"

namespace hostwire {

int tuneListener(std::uint16_t, const ListenerOptions&) { return 0; }

}  // namespace hostwire
