// Finds descriptors of connections of Node's event loop whose library does not expose them: a connection that
// the library pauses polls nothing, and polls again when it is resumed.
#pragma once

#include <memory>
#include <optional>

namespace hostwire {

// All functions must be called on the thread of the loop.
class PausedPolls {
 public:
  virtual ~PausedPolls() = default;
  PausedPolls(const PausedPolls&) = delete;
  PausedPolls& operator=(const PausedPolls&) = delete;

  // Lists the handles of the loop that poll nothing now, and forgets the previous list.
  virtual void look() = 0;
  // Returns the descriptor of the one listed handle that polls again, and removes it from the list; nullopt
  // if none does, or more than one. To be called only in the same turn of the loop as look(), because no
  // handle is freed within a turn.
  virtual std::optional<int> takeResumed() = 0;

 protected:
  PausedPolls() = default;
};

// `loop` is Node's uv_loop_t. Throws HostError where this platform has no StreamWriter, or Node does not
// export its handles.
std::unique_ptr<PausedPolls> watchPolls(void* loop);
// Returns whether the kernel holds bytes of this socket that its peer has not acknowledged. False if it does
// not report that.
bool hasUnacknowledged(int fd);

}  // namespace hostwire
