// The players of the machine: what they play, how they are told to, and media keys where they can't be.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/command_thread.h"
#include "host/roots.h"

namespace hostwire {

// In the order of MEDIA_VERBS in src/host/media.ts. Those before `seek` have a media key.
enum class MediaVerb : std::uint8_t { kPlay, kPause, kPlayPause, kStop, kNext, kPrevious, kSeek, kSetVolume };
inline constexpr unsigned kMediaVerbs = 8;

enum class Playback : std::uint8_t { kPlaying, kPaused, kStopped };
enum class Repeat : std::uint8_t { kNone, kTrack, kPlaylist };

struct MediaPlayer {
  std::string id;                  // never given to another program
  std::vector<std::string> names;  // at least one; the first is shown
  bool isSilent = true;            // has not answered so far
  Playback playback = Playback::kStopped;
  std::string title;  // valid UTF-8 like all text here; empty: none
  std::vector<std::string> artists;
  std::optional<std::string> album;
  std::optional<std::string> artUrl;
  std::optional<double> durationSeconds;
  std::optional<double> positionSeconds;  // at the moment of the reading
  std::optional<double> rate;             // 1: the usual speed
  std::optional<bool> shuffle;
  std::optional<Repeat> repeat;
  std::optional<double> volume;        // 1: full; may be more
  std::optional<double> lastPlayedMs;  // monotonic: since when it plays, or when it stopped to
  std::uint32_t cannot = 0;            // bit 1 << verb: it says that it can't do this now
};

struct MediaSnapshot {
  std::optional<std::string> absence;  // why no player can be heard of
  bool isSettled = true;               // what was asked at the beginning is answered, or was not in a second
  std::vector<MediaPlayer> players;
  std::uint32_t leftOut = 0;  // players beyond those that are kept
};

// gone: the player, or the way to it. unanswered: it may still do it.
enum class MediaOutcome : std::uint8_t { kDone, kFailed, kGone, kUnanswered };

struct MediaReply {
  MediaOutcome outcome = MediaOutcome::kDone;
  std::string reason;  // empty when done
};

// Watches the players from the command thread. Its functions may be called on any thread and never wait.
class MediaPlayers {
 public:
  // `onChange` is called on the command thread after each change, as soon as all is settled, until that
  // thread ends. It must be quick.
  MediaPlayers(const CommandThread& thread, std::function<void()> onChange);
  ~MediaPlayers();
  MediaPlayers(const MediaPlayers&) = delete;
  MediaPlayers& operator=(const MediaPlayers&) = delete;

  // Begins to watch; again: nothing.
  void watch();
  MediaSnapshot read();
  // `value`: seconds from the track's beginning, or 1 for full volume. `done` is called once: on the command
  // thread after `limit` at the latest, or at once when that thread has ended.
  void control(const std::string& id, MediaVerb verb, double value, std::chrono::milliseconds limit,
               const std::function<void(const MediaReply&)>& done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Presses media keys for whatever hears them.
class MediaKeys {
 public:
  explicit MediaKeys(const Roots& roots);
  ~MediaKeys();
  MediaKeys(const MediaKeys&) = delete;
  MediaKeys& operator=(const MediaKeys&) = delete;

  // Why no key can be pressed; nothing when one can. Opens nothing.
  std::optional<std::string> absence() const;
  // Makes the keyboard, which stays. True when it is new: who is to hear it needs a moment to find it. Throws
  // HostError.
  bool open();
  // Presses and releases the key of a verb before `seek`. Throws HostError.
  void press(MediaVerb verb);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
