// One look for services on the network, through Avahi. On the bus thread.
#pragma once

#include <chrono>

#include "host/discovery.h"
#include "linux/bus/loop.h"

namespace hostwire {

// As Discovery::browse.
void browse(BusLoop& loop, std::chrono::milliseconds duration, const Discovery::BrowseAnswer& answer);

}  // namespace hostwire
