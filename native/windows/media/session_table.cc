// The state of media sessions.
#include "windows/media/session_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hostwire {
namespace {

constexpr double kTicksPerSecond = 1e7;
// About three years; a larger value is a player's mistake.
constexpr double kMaxSeconds = 1e8;
// Maximum age of a position.
constexpr double kMaxAgeSeconds = 86'400;
constexpr double kMaxRate = 100;

std::uint32_t bitOf(MediaVerb verb) { return 1U << static_cast<unsigned>(verb); }

bool endsWithExe(std::string_view text) {
  constexpr std::string_view kEnding = ".exe";
  if (text.size() <= kEnding.size()) return false;
  const std::string_view end = text.substr(text.size() - kEnding.size());
  return std::equal(end.begin(), end.end(), kEnding.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

std::string_view afterLast(std::string_view text, char separator) {
  const auto at = text.rfind(separator);
  return at == std::string_view::npos || at + 1 == text.size() ? text : text.substr(at + 1);
}

// Subtracting might overflow if a player invents its times.
double secondsBetween(std::int64_t from, std::int64_t to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / kTicksPerSecond;
}

// A player that is changing tracks is about to continue with its previous state.
Playback playbackOf(int status, Playback before) {
  switch (static_cast<SessionStatus>(status)) {
    case SessionStatus::kPlaying: return Playback::kPlaying;
    case SessionStatus::kPaused: return Playback::kPaused;
    case SessionStatus::kChanging: return before;
    case SessionStatus::kClosed:
    case SessionStatus::kOpened:
    case SessionStatus::kStopped: break;
  }
  return Playback::kStopped;
}

std::optional<Repeat> repeatOf(std::optional<int> mode) {
  if (mode == 0) return Repeat::kNone;
  if (mode == 1) return Repeat::kTrack;
  if (mode == 2) return Repeat::kPlaylist;
  return std::nullopt;
}

}  // namespace

std::string shortNameOf(std::string_view appUserModelId) {
  std::string_view name = appUserModelId;
  const auto bang = name.find('!');
  if (bang != std::string_view::npos) {
    // A packaged app: Family_publisher!Application.
    const std::string_view application = name.substr(bang + 1);
    const std::string_view package = name.substr(0, bang);
    const std::string_view family = package.substr(0, package.rfind('_'));
    name = afterLast(application.empty() || application == "App" ? family : application, '.');
  } else if (endsWithExe(name)) {
    name = afterLast(name.substr(0, name.size() - 4), '\\');
  }
  return name.empty() ? "unknown" : std::string(name);
}

void SessionTable::add(const std::string& id, std::string_view appUserModelId) {
  Entry entry;
  entry.names.push_back(shortNameOf(appUserModelId));
  if (!appUserModelId.empty() && appUserModelId != entry.names.front())
    entry.names.emplace_back(appUserModelId);
  entries_.insert_or_assign(id, std::move(entry));
}

void SessionTable::remove(const std::string& id) { entries_.erase(id); }

void SessionTable::clear() {
  entries_.clear();
  leftOut_ = 0;
}

void SessionTable::setPlayback(const std::string& id, const SessionPlayback& playback, double nowMs) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  // The following changes affect how the position advances, so it is updated first.
  entry.positionSeconds = positionOf(entry, nowMs);
  entry.positionAtMs = nowMs;
  const Playback now = playbackOf(playback.status, entry.playback);
  if ((now == Playback::kPlaying) != (entry.playback == Playback::kPlaying)) entry.lastPlayedMs = nowMs;
  entry.playback = now;
  entry.reported = playback;
  if (entry.reported.rate && !std::isfinite(*entry.reported.rate)) entry.reported.rate.reset();
  if (entry.reported.rate) entry.reported.rate = std::clamp(*entry.reported.rate, -kMaxRate, kMaxRate);
}

void SessionTable::setTimeline(const std::string& id, const SessionTimeline& timeline,
                               const SessionMoment& now) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  // Many players report nothing new when they pause: then the position is the one to which ours has advanced.
  if (entry.positionSeconds && entry.timeline == timeline) return;
  entry.timeline = timeline;
  entry.positionSeconds.reset();
  if (timeline == SessionTimeline{}) return;
  const double seconds = secondsBetween(timeline.start, timeline.position);
  entry.positionSeconds = std::clamp(seconds, 0.0, kMaxSeconds);
  const double age = secondsBetween(timeline.lastUpdated, now.dateTicks);
  const bool isAgeKnown = timeline.lastUpdated > 0 && age >= 0 && age < kMaxAgeSeconds;
  entry.positionAtMs = now.monotonicMs - (isAgeKnown ? age * 1000 : 0);
}

void SessionTable::setMetadata(const std::string& id, const SessionMetadata& metadata) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  found->second.metadata = metadata;
  found->second.hasAnswered = true;
}

void SessionTable::setAnswered(const std::string& id) {
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.hasAnswered = true;
}

void SessionTable::setCurrent(const std::string& id, double nowMs) {
  const auto found = entries_.find(id);
  if (found != entries_.end() && !found->second.lastPlayedMs) found->second.lastPlayedMs = nowMs;
}

std::int64_t SessionTable::startOf(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? 0 : found->second.timeline.start;
}

std::optional<double> SessionTable::durationOf(const Entry& entry) {
  const double seconds = secondsBetween(entry.timeline.start, entry.timeline.end);
  // Streams, which have no end, report zero.
  if (seconds <= 0 || seconds > kMaxSeconds) return std::nullopt;
  return seconds;
}

std::optional<double> SessionTable::positionOf(const Entry& entry, double nowMs) {
  if (!entry.positionSeconds) return std::nullopt;
  double seconds = *entry.positionSeconds;
  if (entry.playback == Playback::kPlaying)
    seconds += entry.reported.rate.value_or(1) * std::max(0.0, nowMs - entry.positionAtMs) / 1000;
  if (const auto duration = durationOf(entry)) seconds = std::min(seconds, *duration);
  return std::max(0.0, seconds);
}

std::uint32_t SessionTable::cannotOf(const Entry& entry) {
  constexpr std::uint32_t kAll = (1U << kMediaVerbs) - 1;
  std::uint32_t cannot = kAll & ~entry.reported.can;
  // Many players enable only the one of these two that would change something; requesting the current state
  // is not an error.
  if (entry.playback == Playback::kPlaying) cannot &= ~bitOf(MediaVerb::kPlay);
  if (entry.playback == Playback::kPaused) cannot &= ~bitOf(MediaVerb::kPause);
  return cannot;
}

MediaPlayer SessionTable::playerOf(const std::string& id, const Entry& entry, double nowMs) {
  const SessionMetadata& metadata = entry.metadata;
  MediaPlayer player;
  player.id = id;
  player.names = entry.names;
  player.isSilent = !entry.hasAnswered;
  player.playback = entry.playback;
  player.title = metadata.title;
  const std::string& artist = metadata.artist.empty() ? metadata.albumArtist : metadata.artist;
  if (!artist.empty()) player.artists.push_back(artist);
  if (!metadata.album.empty()) player.album = metadata.album;
  player.durationSeconds = durationOf(entry);
  player.positionSeconds = positionOf(entry, nowMs);
  player.rate = entry.reported.rate;
  player.shuffle = entry.reported.isShuffled;
  player.repeat = repeatOf(entry.reported.repeatMode);
  player.lastPlayedMs = entry.lastPlayedMs;
  player.cannot = cannotOf(entry);
  return player;
}

std::vector<MediaPlayer> SessionTable::read(double nowMs) const {
  std::vector<MediaPlayer> players;
  players.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) players.push_back(playerOf(id, entry, nowMs));
  return players;
}

}  // namespace hostwire
