// The state of the players on the bus, from their messages: without a bus and without a clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/media.h"

namespace hostwire {

struct TrackMetadata {
  std::string trackId;
  std::string title;
  std::vector<std::string> artists;
  std::optional<std::string> album;
  std::optional<std::string> artUrl;
  bool isArtLong = false;  // a data: URI that is longer than artUrl may be
  std::optional<std::string> url;
  std::optional<double> durationSeconds;
};

// One message's report about a player: all properties, or those that have changed.
struct PlayerNews {
  std::optional<Playback> playback;
  std::optional<TrackMetadata> track;
  std::optional<Repeat> repeat;
  std::optional<double> rate;
  std::optional<bool> shuffle;
  std::optional<double> volume;
  std::optional<double> positionSeconds;
  std::optional<bool> canControl;
  std::optional<bool> canPlay;
  std::optional<bool> canPause;
  std::optional<bool> canGoNext;
  std::optional<bool> canGoPrevious;
  std::optional<bool> canSeek;
};

// Maximum number of names, above any real number of players: a flood costs no memory.
inline constexpr std::size_t kMaxPlayerNames = 64;

// The players of one bus, by owner (":1.7", never reused) and by name ("mpv"). Times are monotonic
// milliseconds.
class PlayerTable {
 public:
  // Sets the new owner of a name; empty: none. Returns true when the owner is new and must be queried.
  bool setOwner(std::string_view name, const std::string& owner);
  bool has(const std::string& owner) const { return players_.count(owner) != 0; }
  std::vector<std::string> owners() const;
  bool hasName(std::string_view name) const { return names_.find(name) != names_.end(); }
  std::size_t remaining() const { return kMaxPlayerNames - names_.size(); }
  // Names that exceeded the limit, and whether it now has capacity for one.
  std::uint32_t leftOut() const { return leftOut_; }
  void setLeftOut(std::uint32_t count) { leftOut_ = count; }
  bool hasCapacityAgain() const { return leftOut_ > 0 && remaining() > 0; }

  // Replaces all of a player's properties, in answer to a question: properties that are missing are no longer
  // reported. `playsSinceMs`: when it began to play, if it plays and was not known to; the same for all that
  // played before the first question.
  void replace(const std::string& owner, const PlayerNews& news, double nowMs, double playsSinceMs);
  // Applies changed properties. Returns true when its position must be queried: players do not report it on
  // their own.
  bool update(const std::string& owner, const PlayerNews& news, double nowMs);
  void setPosition(const std::string& owner, std::optional<double> seconds, double nowMs);
  // Notes that it answered, even if only with a refusal.
  void setAnswered(const std::string& owner);

  const std::string* trackIdOf(const std::string& owner) const;
  std::optional<double> positionOf(const std::string& owner, double nowMs) const;
  std::vector<MediaPlayer> read(double nowMs) const;
  void clear();

 private:
  struct Player {
    std::vector<std::string> names;  // sorted
    bool hasAnswered = false;
    PlayerNews known;
    double positionAtMs = 0;
    std::optional<double> lastPlayedMs;
  };

  void removeName(const std::string& name, const std::string& owner);
  static void setPlayback(Player& player, Playback playback, double nowMs);
  static std::optional<double> positionOf(const Player& player, double nowMs);

  std::map<std::string, Player> players_;
  std::map<std::string, std::string, std::less<>> names_;
  std::uint32_t leftOut_ = 0;
};

}  // namespace hostwire
