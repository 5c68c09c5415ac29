// Who closes sockets on another thread than JavaScript's holds this lock meanwhile; who finds a connection by
// its descriptor and then acts on that descriptor holds it for both, so that it cannot be another one's in
// between.
#pragma once

#include <mutex>

namespace hostwire {

inline std::mutex& closingLock() {
  static std::mutex lock;
  return lock;
}

}  // namespace hostwire
