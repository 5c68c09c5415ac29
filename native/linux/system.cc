// What a Linux machine is.
#include "host/system.h"

namespace hostwire {

SystemInfo readSystem(const Roots& /*roots*/) { return {}; }

}  // namespace hostwire
