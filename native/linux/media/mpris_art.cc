// Pictures of tracks: the users whose files they are, and pictures that are part of their address.
#include <cmath>
#include <cstdint>
#include <mutex>
#include <utility>

#include "linux/media/mpris.h"
#include "linux/media/mpris_names.h"
#include "linux/media/mpris_news.h"

namespace hostwire {

// Asked before the player's properties, so that the user is known before a picture is.
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

void Mpris::askArtUrl(const std::string& id, std::size_t maxBytes, std::chrono::milliseconds limit,
                      std::function<void(const std::optional<std::string>&)> done) {
  bus().call({id, mpris::kPath, mpris::kProperties, "Get", {mpris::kPlayer, "Metadata"}}, limit,
             [maxBytes, done = std::move(done)](Reply& reply) {
               done(reply.end == CallEnd::kAnswered ? readBoxedArtUrl(reply.body, maxBytes) : std::nullopt);
             });
}

}  // namespace hostwire
