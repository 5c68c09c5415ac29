// Decides with whose rights the files that players name are read.
#include "linux/media/player_users.h"

#include <utility>

namespace hostwire {
namespace {

// "nogroup": no file is shared with it.
constexpr std::uint32_t kNoGroup = 65534;

}  // namespace

void PlayerUsers::begin(std::optional<UserRights> bus, std::optional<BusUser> as) {
  bus_ = std::move(bus);
  as_ = as;
  users_.clear();
}

// A bus may be any program of its user, and claim anything about its players. So a bus is believed about its
// own user, and about others only where root runs it at an address that this machine's configuration gives.
PlayerRights PlayerUsers::rightsOf(const std::string& owner) const {
  const auto none = [](const char* reason) { return PlayerRights{std::nullopt, reason}; };
  if (!bus_) return none("the user of the bus is not known");
  if (as_ && as_->uid != bus_->uid) return none("the bus is not that of the user at the machine");
  const auto user = users_.find(owner);
  if (user == users_.end()) return none("the player's user is not known");
  if (user->second == bus_->uid) return {bus_, ""};
  if (bus_->uid != 0 || as_) return none("the player belongs to another user than its bus");
  // Its groups could only be looked up in a name service, which may hang.
  return {UserRights{user->second, kNoGroup, {}}, ""};
}

}  // namespace hostwire
