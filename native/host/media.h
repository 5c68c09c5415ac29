// The machine's media players: what they play, commands to them, and media keys where players cannot be
// reached.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/command_thread.h"
#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

// Verbs in the order of MEDIA_VERBS in src/host/media.ts. Those before `seek` have a media key.
enum class MediaVerb : std::uint8_t { kPlay, kPause, kPlayPause, kStop, kNext, kPrevious, kSeek, kSetVolume };
inline constexpr unsigned kMediaVerbs = 8;
// Names as JavaScript spells them, in the order of the enumeration.
inline constexpr std::array<const char*, kMediaVerbs> kMediaVerbNames{
    "play", "pause", "play_pause", "stop", "next", "previous", "seek", "set_volume"};
inline constexpr std::array<const char*, 3> kPlaybackNames{"playing", "paused", "stopped"};

enum class Playback : std::uint8_t { kPlaying, kPaused, kStopped };
enum class Repeat : std::uint8_t { kNone, kTrack, kPlaylist };

struct MediaPlayer {
  std::string id;                  // never reused for another program
  std::vector<std::string> names;  // at least one; the first is shown
  bool isSilent = true;            // no answer so far
  Playback playback = Playback::kStopped;
  std::string title;  // valid UTF-8 like all text here; empty: none
  std::vector<std::string> artists;
  std::optional<std::string> album;
  std::optional<std::string> artUrl;  // whole; absent if it is longer than 16 KiB
  bool isArtLong = false;             // longer than that, and a data: URI: MediaPlayers::askArtUrl returns it
  std::optional<std::string> url;     // of the track; whole, or absent
  std::optional<double> durationSeconds;
  std::optional<double> positionSeconds;  // at the moment of the reading
  std::optional<double> rate;             // 1: normal speed
  std::optional<bool> shuffle;
  std::optional<Repeat> repeat;
  std::optional<double> volume;        // 1: full; may be more
  std::optional<double> lastPlayedMs;  // monotonic: the last start or end of playback
  std::uint32_t cannot = 0;            // bit 1 << verb: the player reports that it cannot do this now
};

struct MediaSnapshot {
  std::optional<std::string> absence;  // why no player can be watched
  bool isSettled = true;               // the initial questions are answered, or a second has passed
  std::vector<MediaPlayer> players;
  std::uint32_t leftOut = 0;  // players beyond the limit
};

// The platform's source of players, as its rows name it.
struct MediaSource {
  std::string name;    // "the session bus"
  std::string absent;  // "no session bus"
  std::string remedy;  // how to get one
};
Finding describePlayers(const MediaSnapshot& snapshot, const MediaSource& source);
// `areNeeded`: no player can be reached in any other way.
Finding describeKeys(const std::optional<Obstacle>& absence, bool areNeeded);

// kGone: the player or the connection to it is gone. kUnanswered: the player may still carry it out.
enum class MediaOutcome : std::uint8_t { kDone, kFailed, kGone, kUnanswered };

struct MediaReply {
  MediaOutcome outcome = MediaOutcome::kDone;
  std::string reason;  // empty when done
};

// Watches the players from the command thread. Its functions may be called on any thread and never wait.
class MediaPlayers {
 public:
  // `onChange` is called on the command thread after each change, once all initial questions are settled,
  // until that thread ends. It must be quick.
  MediaPlayers(const CommandThread& thread, std::function<void()> onChange);
  ~MediaPlayers();
  MediaPlayers(const MediaPlayers&) = delete;
  MediaPlayers& operator=(const MediaPlayers&) = delete;

  // Starts watching; later calls do nothing.
  void watch();
  MediaSnapshot read();
  // Returns the current row of `hostwire doctor`, so wait until the players have settled.
  Finding describe();
  // Returns a function that reads the file `path`, which the player `id` has named, with the rights of that
  // player's user: a player must not publish a file that its user cannot read. It throws the reason when it
  // cannot, or when the file has more than `maxBytes` bytes. It may hang, and keeps the user's rights: call
  // it on a thread that ends afterwards.
  std::function<std::string()> artReader(const std::string& id, const std::string& path,
                                         std::size_t maxBytes);
  // Asks the player `id` for the address of its picture, which is too long to be kept. `done` is called once,
  // on the command thread within `limit`, or immediately if that thread has ended: with the whole address, or
  // with nothing if it has more than `maxBytes` bytes or the player does not answer.
  void askArtUrl(const std::string& id, std::size_t maxBytes, std::chrono::milliseconds limit,
                 const std::function<void(const std::optional<std::string>&)>& done);
  // `value`: seconds from the track's beginning, or 1 for full volume. `done` is called once: on the command
  // thread within `limit`, or immediately if that thread has ended.
  void control(const std::string& id, MediaVerb verb, double value, std::chrono::milliseconds limit,
               const std::function<void(const MediaReply&)>& done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Presses media keys, for any program that listens for them.
class MediaKeys {
 public:
  explicit MediaKeys(const Roots& roots);
  ~MediaKeys();
  MediaKeys(const MediaKeys&) = delete;
  MediaKeys& operator=(const MediaKeys&) = delete;

  // Returns why no key can be pressed; nothing when keys can be pressed. Opens nothing.
  std::optional<Obstacle> absence() const;
  // Creates the keyboard, which remains. Returns true when it is new: programs need a moment to notice it.
  // Throws HostError.
  bool open();
  // Presses and releases the key of a verb before `seek`. Throws HostError.
  void press(MediaVerb verb);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
