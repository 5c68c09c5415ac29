// A thread other than JavaScript's holds this lock while it closes sockets; a thread that finds a connection
// by its descriptor and then acts on that descriptor holds it for both, so that the descriptor cannot become
// another connection's in between.
#pragma once

#include <mutex>

namespace hostwire {

inline std::mutex& closingLock() {
  static std::mutex lock;
  return lock;
}

}  // namespace hostwire
