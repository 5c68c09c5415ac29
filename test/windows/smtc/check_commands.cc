// Each command is given once; refusals are reported, and a player that never answers holds up no other.
#include <cmath>
#include <string>
#include <thread>

#include "rig.h"

namespace smtc_checks {

void checkCommands(Rig& rig) {
  const auto done = [&](MediaVerb verb, const char* slot, double value = 0) {
    const long before = countOf(slot);
    const auto reply = rig.control("Spotify", verb, value);
    check(reply.outcome == MediaOutcome::kDone && reply.reason.empty(),
          std::string(slot) + ": " + reply.reason);
    check(countOf(slot) == before + 1, std::string(slot) + " is asked once");
  };
  done(MediaVerb::kPlay, "Session.tryPlay");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").playback == Playback::kPlaying; }), "it plays");
  const auto again = rig.control("Spotify", MediaVerb::kPlay);
  check(again.outcome == MediaOutcome::kDone && countOf("Session.tryPlay") == 1, "play twice is asked once");
  const double position = rig.the("Spotify").positionSeconds.value_or(-1);
  check(position >= 12.0, "its position goes on");
  check(comes([&] { return rig.the("Spotify").positionSeconds.value_or(-1) > position; }), "and on");
  done(MediaVerb::kPause, "Session.tryPause");
  check(rig.control("Spotify", MediaVerb::kPause).outcome == MediaOutcome::kDone, "pause twice");
  check(countOf("Session.tryPause") == 1, "is asked once");
  done(MediaVerb::kPlayPause, "Session.tryTogglePlayPause");
  done(MediaVerb::kNext, "Session.trySkipNext");
  done(MediaVerb::kPrevious, "Session.trySkipPrevious");
  done(MediaVerb::kSeek, "Session.tryChangePlaybackPosition", 61.5);
  check(lastPosition() == 10'000'000 + 615'000'000, "to where the track's own time is");
  check(comes([&] { return std::abs(rig.the("Spotify").positionSeconds.value_or(0) - 61.5) < 1; }),
        "and the new position is asked for");
  done(MediaVerb::kStop, "Session.tryStop");
  check(rig.control("Spotify", MediaVerb::kSetVolume, 1).outcome == MediaOutcome::kFailed, "no volume");
}

void checkRefusals(Rig& rig) {
  say("do b refuse 1");
  auto reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.outcome == MediaOutcome::kFailed && reply.reason == "it refused", "a refusal: " + reply.reason);
  say("do b refuse 0");
  say("do b error 0x80070015");
  reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.outcome == MediaOutcome::kFailed && reply.reason.find("0x80070015") != std::string::npos,
        "an error: " + reply.reason);
  say("do b noinfo 1");
  reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.outcome == MediaOutcome::kFailed && reply.reason.find("0x80004005") != std::string::npos,
        "an error that is not told: " + reply.reason);
  say("do b noinfo 0");
  say("do b error 1");
  reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.reason == "Windows cancelled it", "cancelled: " + reply.reason);
  say("do b error 0");
  say("do b throw 0x80010108");
  reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.outcome == MediaOutcome::kGone, "a player that is gone: " + reply.reason);
  say("do b throw 0x80070005");
  reply = rig.control("vlc", MediaVerb::kNext);
  check(reply.outcome == MediaOutcome::kFailed, "one that may not be asked: " + reply.reason);
  say("do b throw 0");
  say("do b broken 2");
  check(rig.control("vlc", MediaVerb::kNext).outcome == MediaOutcome::kFailed,
        "an operation that can't be waited for");
  say("do b broken 0");
  check(rig.controlId("77", MediaVerb::kPlay).outcome == MediaOutcome::kGone, "nobody of that number");
  say("do b late -1");
  check(rig.control("vlc", MediaVerb::kNext).outcome == MediaOutcome::kDone,
        "an operation that is over at once");
  say("do b late 0");
}

void checkHanging(Rig& rig) {
  say("do b hang 1");
  const auto begin = Clock::now();
  const auto reply = rig.control("vlc", MediaVerb::kNext, 0, 300);
  const auto took = Clock::now() - begin;
  check(reply.outcome == MediaOutcome::kUnanswered, "a player that never answers: " + reply.reason);
  check(reply.reason == "it did not answer within 300 ms", reply.reason);
  check(took >= milliseconds{290} && took < milliseconds{1500}, "costs what it was given");
  check(rig.control("Spotify", MediaVerb::kNext).outcome == MediaOutcome::kDone, "and nobody else anything");
  const long first = countOf("Session.trySkipNext");
  for (int i = 0; i < 7; ++i) rig.control("vlc", MediaVerb::kNext, 0, 1);
  // The deadline may pass before the player was even asked.
  check(comes([&] { return countOf("Session.trySkipNext") == first + 7; }), "each is asked all the same");
  const long asked = countOf("Session.trySkipNext");
  check(rig.control("vlc", MediaVerb::kNext, 0, 300).reason == "it has not answered the previous commands",
        "it is not asked for ever");
  check(countOf("Session.trySkipNext") == asked, "really not");
  say("do b hang 0");
}

void checkStuck(Rig& rig) {
  // A call that itself hangs: Windows', not a player's. Every command waits, and none longer than allowed.
  say("do b stuck 1200");
  say("fire playback b");
  std::this_thread::sleep_for(milliseconds{100});
  const auto begin = Clock::now();
  const auto reply = rig.control("Spotify", MediaVerb::kNext, 0, 300);
  check(reply.outcome == MediaOutcome::kUnanswered && Clock::now() - begin < milliseconds{1000},
        "a call that does not return costs no more than allowed");
  check(!rig.read().players.empty(), "and what is known is still told");
  say("do b stuck 0");
  check(comes([&] { return rig.control("Spotify", MediaVerb::kNext).outcome == MediaOutcome::kDone; }),
        "until it returns");
}

}  // namespace smtc_checks
