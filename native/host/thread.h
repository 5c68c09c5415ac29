// Threads for questions that may never return: detached, cheap, deaf to signals.
#pragma once

#include <functional>

namespace hostwire {

// Runs `body` on a detached thread; what it touches must be owned by it. False when the system has no thread
// to give. `body` must not throw. The code it runs stays loaded for as long as the process lives.
bool startThread(std::function<void()> body);

}  // namespace hostwire
