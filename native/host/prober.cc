// The threads behind the probers.
#include "host/prober.h"

#include <exception>

namespace hostwire {

struct ProberPool::State {};
class ProbeTask {
 public:
  std::function<void()> ask;
};

ProberPool::ProberPool() : state_(std::make_shared<State>()) {}
ProberPool::~ProberPool() = default;
void ProberPool::askAll(std::chrono::milliseconds) {}
std::size_t ProberPool::stuckCount() const { return 0; }

ProberHandle::ProberHandle(ProberPool&, std::function<void()> ask) : task_(std::make_shared<ProbeTask>()) {
  task_->ask = std::move(ask);
}
ProberHandle::~ProberHandle() = default;
ProberHandle::ProberHandle(ProberHandle&&) noexcept = default;
ProberHandle& ProberHandle::operator=(ProberHandle&&) noexcept = default;
ProberHandle::Status ProberHandle::consult() const {
  Status status;
  try {
    task_->ask();
    status.hasAnswered = true;
  } catch (const std::exception& error) {
    status.error = error.what();
  }
  return status;
}

}  // namespace hostwire
