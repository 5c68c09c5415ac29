// Rows about power, the same for every power manager.
#include "host/power.h"

#include <mutex>
#include <utility>

namespace hostwire {
namespace {

// Collects the answers to the questions of one description, which arrive on other threads and in any order.
class Gathering {
 public:
  explicit Gathering(std::function<void(const Findings&)> answer)
      : answer_(std::move(answer)), findings_(1 + kPowerActionNames.size()), open_(findings_.size()) {}

  void take(std::size_t at, Finding finding) {
    {
      const std::lock_guard lock(mutex_);
      findings_[at] = std::move(finding);
      if (--open_ > 0) return;
    }
    // Without a power manager each action would have the same reason.
    if (findings_.front().status == Finding::Status::kMissing) findings_.resize(1);
    answer_(findings_);
  }

 private:
  const std::function<void(const Findings&)> answer_;
  std::mutex mutex_;
  Findings findings_;
  std::size_t open_;
};

}  // namespace

void PowerControl::describe(const std::function<void(const Findings&)>& answer) {
  const auto gathering = std::make_shared<Gathering>(answer);
  describeManager([gathering](const Finding& finding) { gathering->take(0, finding); });
  for (std::size_t at = 0; at < kPowerActionNames.size(); ++at) {
    const auto& [name, action] = kPowerActionNames.at(at);
    support(action, [gathering, at, subject = std::string(name)](const PowerSupport& support) {
      const auto obstacle = support.isSupported ? std::nullopt : std::optional(Obstacle{support.reason, ""});
      gathering->take(at + 1, Finding::possible(subject, obstacle));
    });
  }
}

}  // namespace hostwire
