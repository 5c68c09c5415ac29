// The state of media sessions, from Windows' reports: without calls to Windows, and without a clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/media.h"

namespace hostwire {

// GlobalSystemMediaTransportControlsSessionPlaybackStatus
enum class SessionStatus : int { kClosed = 0, kOpened, kChanging, kStopped, kPlaying, kPaused };

struct SessionPlayback {
  int status = 0;  // SessionStatus, or a value that a later Windows adds
  // The enabled verbs, a bit 1 << verb each.
  std::uint32_t can = 0;
  std::optional<double> rate;
  std::optional<bool> isShuffled;
  std::optional<int> repeatMode;  // MediaPlaybackAutoRepeatMode: none, track, list
};

// In units of 100 ns, `lastUpdated` since 1601.
struct SessionTimeline {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t position = 0;
  std::int64_t lastUpdated = 0;

  bool operator==(const SessionTimeline&) const = default;
};

struct SessionMetadata {
  std::string title;
  std::string artist;
  std::string albumArtist;
  std::string album;
};

// One moment, on both clocks.
struct SessionMoment {
  double monotonicMs = 0;
  std::int64_t dateTicks = 0;
};

// Returns "Spotify" of "SpotifyAB.SpotifyMusic_zpdnekdrzrea0!Spotify", "vlc" of "vlc.exe".
std::string shortNameOf(std::string_view appUserModelId);

// Maximum number of sessions, above any real number.
inline constexpr std::size_t kMaxSessions = 64;

// Sessions by a number that is never reused.
class SessionTable {
 public:
  void add(const std::string& id, std::string_view appUserModelId);
  void remove(const std::string& id);
  void clear();
  void setLeftOut(std::uint32_t count) { leftOut_ = count; }

  void setPlayback(const std::string& id, const SessionPlayback& playback, double nowMs);
  void setTimeline(const std::string& id, const SessionTimeline& timeline, const SessionMoment& now);
  void setMetadata(const std::string& id, const SessionMetadata& metadata);
  // Notes that it answered, even if only with a refusal.
  void setAnswered(const std::string& id);
  // Sets the session that receives Windows' own keys: of those that do not play it was the last that did.
  void setCurrent(const std::string& id, double nowMs);

  // Returns the start of its timeline; players give their positions relative to that.
  std::int64_t startOf(const std::string& id) const;
  std::vector<MediaPlayer> read(double nowMs) const;
  std::uint32_t leftOut() const { return leftOut_; }

 private:
  struct Entry {
    std::vector<std::string> names;
    bool hasAnswered = false;
    Playback playback = Playback::kStopped;
    SessionPlayback reported;
    SessionTimeline timeline;
    SessionMetadata metadata;
    std::optional<double> positionSeconds;
    double positionAtMs = 0;
    std::optional<double> lastPlayedMs;
  };

  static std::optional<double> durationOf(const Entry& entry);
  static std::optional<double> positionOf(const Entry& entry, double nowMs);
  static std::uint32_t cannotOf(const Entry& entry);
  static MediaPlayer playerOf(const std::string& id, const Entry& entry, double nowMs);

  std::map<std::string, Entry> entries_;
  std::uint32_t leftOut_ = 0;
};

}  // namespace hostwire
