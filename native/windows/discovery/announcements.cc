// Announcements that Windows makes for this service.
#include "windows/discovery/announcements.h"

#include <utility>

namespace hostwire {

Announcements::Announcements(std::shared_ptr<TaskLoop> loop, Discovery::NewsHandler onNews,
                             const DnsCalls* (*find)())
    : loop_(std::move(loop)), onNews_(std::move(onNews)), find_(find) {}

void Announcements::set(std::vector<Announcement> list, const std::function<void()>& onDone) {
  // Called when its last copy is destroyed, with or without registrations.
  const std::shared_ptr<void> last(nullptr, [onDone](void*) { onDone(); });
  for (const auto& registration : std::exchange(current_, {})) registration->end([last] {});
  if (list.empty()) return;
  const DnsCalls* calls = find_();
  if (calls == nullptr) {
    std::vector<Announced> refused;
    for (const Announcement& each : list) refused.push_back({each.name, false, kNoDnsCalls});
    return onNews_(refused);
  }
  const auto onChange = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->report();
  };
  for (Announcement& wanted : list)
    current_.push_back(std::make_shared<Registration>(*calls, loop_, std::move(wanted), onChange));
  for (const auto& registration : current_) registration->begin();
}

void Announcements::report() {
  std::vector<Announced> now;
  for (const auto& registration : current_) now.push_back(registration->now());
  onNews_(now);
}

}  // namespace hostwire
