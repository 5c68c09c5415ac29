// Threads for questions that may never return: detached, cheap, with all signals blocked.
#pragma once

#include <functional>

namespace hostwire {

// Runs `body` on a detached thread; `body` owns what it touches and must not throw. Returns false when the
// system has no thread or memory left. The code it runs stays loaded for the life of the process.
bool startThread(std::function<void()> body);

}  // namespace hostwire
