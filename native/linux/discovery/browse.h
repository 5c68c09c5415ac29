// One search for services on the network, through Avahi. Runs on the bus thread.
#pragma once

#include <chrono>

#include "host/discovery.h"
#include "linux/bus/loop.h"

namespace hostwire {

// Same as Discovery::browse.
void browse(BusLoop& loop, std::chrono::milliseconds duration, const Discovery::BrowseAnswer& answer);

}  // namespace hostwire
