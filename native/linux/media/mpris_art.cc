// The files of pictures that players name.
#include <cmath>
#include <cstdint>
#include <mutex>

#include "linux/media/mpris.h"
#include "linux/media/mpris_names.h"

namespace hostwire {

// Asked before the player's properties, so that it is known when a picture is.
void Mpris::askUser(const std::string& owner) {
  bus().call({mpris::kBusName, mpris::kBusPath, mpris::kBusName, "GetConnectionUnixUser", {owner}},
             mpris::kPatience, [this, owner](Reply& reply) {
               if (reply.end != CallEnd::kAnswered || !table_.has(owner)) return;
               const auto uid = reply.body.number();
               if (!uid || !(*uid >= 0) || *uid >= UINT32_MAX || *uid != std::floor(*uid)) return;
               const std::lock_guard lock(mutex_);
               users_.set(owner, static_cast<std::uint32_t>(*uid));
             });
}

PlayerRights Mpris::rightsOf(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  return users_.rightsOf(owner);
}

}  // namespace hostwire
