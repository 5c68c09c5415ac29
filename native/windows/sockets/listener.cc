// Nothing is set on the listening socket: Windows has neither a low-water mark for what is not sent yet nor a
// time after which a silent peer is given up.
#include "host/listener.h"

namespace hostwire {

int tuneListener(std::uint16_t, const ListenerOptions&) { return 0; }

}  // namespace hostwire
