// The command thread of Linux: the bus thread.
#pragma once

#include "host/command_thread.h"
#include "linux/bus/thread.h"

namespace hostwire {

struct CommandThread::State {
  BusThread bus{busAddressesOfEnvironment()};
};

}  // namespace hostwire
