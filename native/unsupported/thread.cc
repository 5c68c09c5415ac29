// Detached threads of the C++ library.
#include "host/thread.h"

#include <system_error>
#include <thread>
#include <utility>

namespace hostwire {

bool startThread(std::function<void()> body) {
  try {
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace hostwire
