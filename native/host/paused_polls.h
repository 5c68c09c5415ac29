// The descriptors of connections of Node's event loop whose library names none: what it pauses polls nothing,
// and polls again when it is resumed.
#pragma once

#include <memory>
#include <optional>

namespace hostwire {

// All calls on the thread of the loop.
class PausedPolls {
 public:
  virtual ~PausedPolls() = default;
  PausedPolls(const PausedPolls&) = delete;
  PausedPolls& operator=(const PausedPolls&) = delete;

  // Lists the handles of the loop that poll nothing now. What was listed before is forgotten.
  virtual void look() = 0;
  // The descriptor of the one listed handle that polls again, which leaves the list; nullopt where there is
  // none, or more than one. Only in the turn of the loop in which look() was called: no handle is freed in
  // it.
  virtual std::optional<int> takeResumed() = 0;

 protected:
  PausedPolls() = default;
};

// `loop` is Node's uv_loop_t. Throws HostError where this platform has no StreamWriter, or Node names no
// handles.
std::unique_ptr<PausedPolls> watchPolls(void* loop);
// Whether the kernel has bytes of this socket that its peer has not acknowledged. False where it does not
// say.
bool hasUnacknowledged(int fd);

}  // namespace hostwire
