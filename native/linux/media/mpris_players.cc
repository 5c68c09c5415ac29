// The state of the players on the bus.
#include "linux/media/mpris_players.h"

#include <algorithm>
#include <utility>

namespace hostwire {
namespace {

std::uint32_t bitOf(MediaVerb verb) { return 1U << static_cast<unsigned>(verb); }

// The interface's rules (MPRIS D-Bus Interface Specification 2.2, Player): a command must not be sent to a
// player whose property for it is false; it may be sent if the property is missing.
std::uint32_t cannotOf(const PlayerNews& known) {
  std::uint32_t cannot = 0;
  const auto forbid = [&](const std::optional<bool>& can, MediaVerb verb) {
    if (!can.value_or(true) || !known.canControl.value_or(true)) cannot |= bitOf(verb);
  };
  forbid(known.canPlay, MediaVerb::kPlay);
  forbid(known.canPause, MediaVerb::kPause);
  forbid(known.canPause, MediaVerb::kPlayPause);
  forbid(known.canControl, MediaVerb::kStop);
  forbid(known.canGoNext, MediaVerb::kNext);
  forbid(known.canGoPrevious, MediaVerb::kPrevious);
  forbid(known.canSeek, MediaVerb::kSeek);
  forbid(known.canControl, MediaVerb::kSetVolume);
  return cannot;
}

template <class Value>
void take(std::optional<Value>& known, const std::optional<Value>& news) {
  if (news) known = news;
}

}  // namespace

bool PlayerTable::setOwner(std::string_view name, const std::string& owner) {
  const auto found = names_.find(name);
  if (found != names_.end()) {
    if (found->second == owner) return false;
    removeName(found->first, found->second);
    names_.erase(found);
  } else if (owner.empty()) {
    leftOut_ -= std::min<std::uint32_t>(leftOut_, 1);
  }
  if (owner.empty()) return false;
  if (names_.size() >= kMaxPlayerNames) {
    ++leftOut_;
    return false;
  }
  names_.emplace(name, owner);
  const auto [player, isNew] = players_.try_emplace(owner);
  auto& names = player->second.names;
  names.insert(std::upper_bound(names.begin(), names.end(), name), std::string(name));
  return isNew;
}

void PlayerTable::removeName(const std::string& name, const std::string& owner) {
  const auto player = players_.find(owner);
  if (player == players_.end()) return;
  auto& names = player->second.names;
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
  if (names.empty()) players_.erase(player);
}

void PlayerTable::setPlayback(Player& player, Playback playback, double nowMs) {
  const bool wasPlaying = player.known.playback == Playback::kPlaying;
  const bool isPlaying = playback == Playback::kPlaying;
  if (wasPlaying != isPlaying) player.lastPlayedMs = nowMs;
  player.known.playback = playback;
}

void PlayerTable::replace(const std::string& owner, const PlayerNews& news, double nowMs,
                          double playsSinceMs) {
  const auto found = players_.find(owner);
  if (found == players_.end()) return;
  Player& player = found->second;
  const Playback playback = news.playback.value_or(Playback::kStopped);
  setPlayback(player, playback, playback == Playback::kPlaying ? playsSinceMs : nowMs);
  player.known = news;
  player.positionAtMs = nowMs;
  player.hasAnswered = true;
}

bool PlayerTable::update(const std::string& owner, const PlayerNews& news, double nowMs) {
  const auto found = players_.find(owner);
  if (found == players_.end()) return false;
  Player& player = found->second;
  PlayerNews& known = player.known;
  // The following changes affect how the position advances, so it is updated first.
  known.positionSeconds = positionOf(player, nowMs);
  player.positionAtMs = nowMs;
  bool isPositionOpen = false;
  if (news.playback && news.playback != known.playback) {
    setPlayback(player, *news.playback, nowMs);
    isPositionOpen = true;
  }
  if (news.track && (!known.track || known.track->trackId != news.track->trackId ||
                     known.track->title != news.track->title || known.track->url != news.track->url)) {
    known.positionSeconds = std::nullopt;
    isPositionOpen = true;
  }
  take(known.track, news.track);
  take(known.repeat, news.repeat);
  take(known.rate, news.rate);
  take(known.shuffle, news.shuffle);
  take(known.volume, news.volume);
  take(known.canControl, news.canControl);
  take(known.canPlay, news.canPlay);
  take(known.canPause, news.canPause);
  take(known.canGoNext, news.canGoNext);
  take(known.canGoPrevious, news.canGoPrevious);
  take(known.canSeek, news.canSeek);
  if (!news.positionSeconds) return isPositionOpen;
  known.positionSeconds = news.positionSeconds;
  return false;
}

void PlayerTable::setPosition(const std::string& owner, std::optional<double> seconds, double nowMs) {
  const auto found = players_.find(owner);
  if (found == players_.end()) return;
  found->second.known.positionSeconds = seconds;
  found->second.positionAtMs = nowMs;
}

void PlayerTable::setAnswered(const std::string& owner) {
  const auto found = players_.find(owner);
  if (found != players_.end()) found->second.hasAnswered = true;
}

std::optional<double> PlayerTable::positionOf(const Player& player, double nowMs) {
  const PlayerNews& known = player.known;
  if (!known.positionSeconds) return std::nullopt;
  double seconds = *known.positionSeconds;
  if (known.playback == Playback::kPlaying)
    seconds += known.rate.value_or(1) * std::max(0.0, nowMs - player.positionAtMs) / 1000;
  if (known.track && known.track->durationSeconds) seconds = std::min(seconds, *known.track->durationSeconds);
  return std::max(0.0, seconds);
}

std::optional<double> PlayerTable::positionOf(const std::string& owner, double nowMs) const {
  const auto found = players_.find(owner);
  return found == players_.end() ? std::nullopt : positionOf(found->second, nowMs);
}

const std::string* PlayerTable::trackIdOf(const std::string& owner) const {
  const auto found = players_.find(owner);
  if (found == players_.end() || !found->second.known.track) return nullptr;
  return &found->second.known.track->trackId;
}

std::vector<std::string> PlayerTable::owners() const {
  std::vector<std::string> owners;
  for (const auto& [owner, player] : players_) owners.push_back(owner);
  return owners;
}

std::vector<MediaPlayer> PlayerTable::read(double nowMs) const {
  std::vector<MediaPlayer> players;
  players.reserve(players_.size());
  for (const auto& [owner, player] : players_) {
    const PlayerNews& known = player.known;
    const TrackMetadata track = known.track.value_or(TrackMetadata{});
    players.push_back({owner, player.names, !player.hasAnswered, known.playback.value_or(Playback::kStopped),
                       track.title, track.artists, track.album, track.artUrl, track.isArtLong, track.url,
                       track.durationSeconds, positionOf(player, nowMs), known.rate, known.shuffle,
                       known.repeat, known.volume, player.lastPlayedMs, cannotOf(known)});
  }
  return players;
}

void PlayerTable::clear() {
  players_.clear();
  names_.clear();
  leftOut_ = 0;
}

}  // namespace hostwire
