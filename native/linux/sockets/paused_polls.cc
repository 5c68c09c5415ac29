// libuv's handles. Node exports these functions; their header is not among those of Node-API, so that they
// are declared here (docs.libuv.org, "Base handle").
#include "host/paused_polls.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "host/error.h"
#include "linux/sockets/tcp.h"

// Weak: programs that are not Node have none of them.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct uv_loop_s;
struct uv_handle_s;
[[gnu::weak]] void uv_walk(uv_loop_s* loop, void (*visit)(uv_handle_s*, void*), void* argument);
[[gnu::weak]] int uv_handle_get_type(const uv_handle_s* handle);
[[gnu::weak]] const char* uv_handle_type_name(int type);
[[gnu::weak]] int uv_is_active(const uv_handle_s* handle);
[[gnu::weak]] int uv_is_closing(const uv_handle_s* handle);
[[gnu::weak]] int uv_fileno(const uv_handle_s* handle, int* fd);
}
// NOLINTEND(readability-identifier-naming)

namespace hostwire {
namespace {

bool polls(const uv_handle_s* handle) {
  const char* const name = uv_handle_type_name(uv_handle_get_type(handle));
  return name != nullptr && std::strcmp(name, "poll") == 0;
}

class LoopPolls final : public PausedPolls {
 public:
  explicit LoopPolls(uv_loop_s* loop) : loop_(loop) {}

  void look() override {
    paused_.clear();
    uv_walk(
        loop_,
        [](uv_handle_s* handle, void* list) {
          if (polls(handle) && uv_is_active(handle) == 0 && uv_is_closing(handle) == 0)
            static_cast<std::vector<uv_handle_s*>*>(list)->push_back(handle);
        },
        &paused_);
  }

  std::optional<int> takeResumed() override {
    const auto isResumed = [](const uv_handle_s* handle) { return uv_is_active(handle) != 0; };
    const auto found = std::find_if(paused_.begin(), paused_.end(), isResumed);
    if (found == paused_.end() || std::any_of(found + 1, paused_.end(), isResumed)) return std::nullopt;
    int fd = -1;
    const bool isOpen = uv_fileno(*found, &fd) == 0;
    paused_.erase(found);
    return isOpen ? std::optional(fd) : std::nullopt;
  }

 private:
  uv_loop_s* const loop_;
  std::vector<uv_handle_s*> paused_;
};

}  // namespace

std::unique_ptr<PausedPolls> watchPolls(void* loop) {
  const bool isThere = uv_walk != nullptr && uv_handle_get_type != nullptr &&
                       uv_handle_type_name != nullptr && uv_is_active != nullptr &&
                       uv_is_closing != nullptr && uv_fileno != nullptr;
  if (!isThere || loop == nullptr) throw HostError(ENOSYS, "look at the handles of the event loop");
  return std::make_unique<LoopPolls>(static_cast<uv_loop_s*>(loop));
}

bool hasUnacknowledged(int fd) { return hasPending(fd).value_or(false); }

}  // namespace hostwire
