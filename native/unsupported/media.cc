// Reports neither players nor media keys.
#include "host/media.h"

#include <stdexcept>

#include "host/error.h"

namespace hostwire {

struct MediaPlayers::State {};

MediaPlayers::MediaPlayers(const CommandThread&, std::function<void()>) {}
MediaPlayers::~MediaPlayers() = default;
void MediaPlayers::watch() {}
MediaSnapshot MediaPlayers::read() {
  return {"media players are not supported on this platform", true, {}, 0};
}
Finding MediaPlayers::describe() { return describePlayers(read(), {"", "none", ""}); }
std::function<std::string()> MediaPlayers::artReader(const std::string&, const std::string&, std::size_t) {
  return
      []() -> std::string { throw std::runtime_error("media players are not supported on this platform"); };
}
void MediaPlayers::askArtUrl(const std::string&, std::size_t, std::chrono::milliseconds,
                             const std::function<void(const std::optional<std::string>&)>& done) {
  done(std::nullopt);
}
void MediaPlayers::control(const std::string&, MediaVerb, double, std::chrono::milliseconds,
                           const std::function<void(const MediaReply&)>& done) {
  done({MediaOutcome::kGone, "media players are not supported on this platform"});
}

struct MediaKeys::State {};

MediaKeys::MediaKeys(const Roots&) {}
MediaKeys::~MediaKeys() = default;
std::optional<Obstacle> MediaKeys::absence() const {
  return Obstacle{"media keys cannot be pressed on this platform", ""};
}
bool MediaKeys::open() { throw HostError(std::errc::not_supported, "make a keyboard"); }
void MediaKeys::press(MediaVerb) { throw HostError(std::errc::not_supported, "press a media key"); }

}  // namespace hostwire
