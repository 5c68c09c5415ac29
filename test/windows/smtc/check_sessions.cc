// Sessions are read, their changes are noticed, unreadable values do no harm; sessions come and go.
#include <string>
#include <thread>

#include "rig.h"

namespace smtc_checks {

void checkReading(Rig& rig) {
  const auto snapshot = rig.read();
  check(!snapshot.absence, "players are heard of");
  check(snapshot.players.size() == 2 && snapshot.leftOut == 0, "both");
  const auto a = rig.the("Spotify");
  equal(a.names.back(), "SpotifyAB.SpotifyMusic_zpdnekdrzrea0!Spotify", "its whole name");
  check(!a.isSilent && a.playback == Playback::kPaused, "paused");
  equal(a.title, "Blue in Green", "title");
  equal(a.artists.empty() ? "" : a.artists.front(), "Miles Davis", "artist");
  equal(a.album.value_or(""), "Kind of Blue", "album");
  check(a.durationSeconds == 337.0, "duration");
  check(a.positionSeconds == 12.0, "position, from where the timeline begins");
  check(a.rate == 1.0 && a.shuffle == true && a.repeat == Repeat::kPlaylist, "rate, shuffle, repeat");
  check(!a.artUrl && !a.volume, "no picture, no volume");
  check(a.lastPlayedMs.has_value(), "the current one counts as the last that played");
  check(isCannot(a, MediaVerb::kSetVolume), "volume is not the player's");
  check(!isCannot(a, MediaVerb::kPlay) && !isCannot(a, MediaVerb::kSeek), "the rest is");
  const auto b = rig.the("vlc");
  check(b.playback == Playback::kStopped && !b.lastPlayedMs, "stopped, and never played");
  equal(b.title, "\xEF\xBF\xBDx", "half a character is replaced");
  equal(b.artists.empty() ? "" : b.artists.front(), "Various", "the album's artist in place of the track's");
  check(!b.durationSeconds && !b.positionSeconds && !b.rate && !b.shuffle && !b.repeat, "nothing is made up");
}

void checkNews(Rig& rig) {
  const int before = rig.changes;
  const long reads = countOf("Session.getPlaybackInfo");
  say("set a status 4");
  say("set a title So What");
  say("fire metadata a");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").title == "So What"; }), "a new title is told");
  check(comes([&] { return rig.the("Spotify").playback == Playback::kPlaying; }), "and that it plays");
  check(rig.changes > before, "somebody is told");
  say("fire playback a 5000");
  say("fire timeline a 5000");
  std::this_thread::sleep_for(milliseconds{300});
  const long more = countOf("Session.getPlaybackInfo") - reads;
  check(more < 30, "a flood of events is read at a pace: " + std::to_string(more));
  say("set a status 2");
  say("fire playback a");
  std::this_thread::sleep_for(milliseconds{150});
  check(rig.the("Spotify").playback == Playback::kPlaying, "while it changes it is what it was");
  say("set a enabled 0");
  say("set a status 5");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").playback == Playback::kPaused; }), "paused");
  const auto a = rig.the("Spotify");
  check(isCannot(a, MediaVerb::kPlay) && isCannot(a, MediaVerb::kNext), "what is not enabled it can't do");
  check(!isCannot(a, MediaVerb::kPause), "but be asked for what is so already");
  say("set a enabled 65535");
  say("set a updated 133000000000000000");
  say("set a position 20000000");
  say("fire timeline a");
  check(comes([&] { return rig.the("Spotify").positionSeconds == 1.0; }),
        "a position of long ago is not carried on");
}

void checkBroken(Rig& rig) {
  const auto before = rig.the("Spotify");
  for (const char* key : {"title !", "status !", "rate !", "shuffle !!", "enabled !", "position !"})
    say(std::string("set a ") + key);
  say("fire metadata a");
  say("fire playback a");
  say("fire timeline a");
  check(comes([&] { return rig.the("Spotify").title.empty(); }), "a title that can't be read is none");
  check(rig.the("Spotify").playback == before.playback, "a status that can't be read is the last");
  say("set a status 5");
  say("set a enabled !!");
  say("fire playback a");
  check(comes([&] { return isCannot(rig.the("Spotify"), MediaVerb::kPlay); }),
        "no controls: nothing is enabled");
  check(comes([&] { return !rig.the("Spotify").rate && !rig.the("Spotify").shuffle; }),
        "no rate, no shuffle");
  say("set a title <long>");
  say("fire metadata a");
  check(comes([&] { return rig.the("Spotify").title.size() == 1024; }), "a title is not read for ever");
  for (const char* key : {"title A", "rate 1", "shuffle 0", "enabled 65535", "position 0"})
    say(std::string("set a ") + key);
  for (const char* behaviour :
       {"brokenmetadata 1", "brokenmetadata 2", "errormetadata 0x80070015", "nometadata 1"}) {
    say(std::string("do a ") + behaviour);
    const long asked = countOf("Session.tryGetMediaProperties");
    say("fire metadata a");
    check(comes([&] { return countOf("Session.tryGetMediaProperties") > asked; }),
          std::string("asked: ") + behaviour);
    say(std::string("do a ") + std::string(behaviour).substr(0, std::string(behaviour).find(' ')) + " 0");
  }
  say("do a broken 1");
  say("fire playback a");
  say("fire timeline a");
  std::this_thread::sleep_for(milliseconds{150});
  check(rig.the("Spotify").playback == Playback::kPaused, "a session that can't be asked stays as it was");
  say("do a broken 0");
  say("set a title B");
  say("fire metadata a");
  check(comes([&] { return rig.the("Spotify").title == "B"; }), "and is heard again");
}

void checkComings(Rig& rig) {
  say("add c ");
  say("do c mutemetadata 1");
  say("set c status 4");
  say("add d Microsoft.ZuneMusic_8wekyb3d8bbwe!App");
  say("do d mute 1");
  say("do d deaf 1");
  say("fire sessions");
  check(comes([&] { return rig.read().players.size() == 4; }), "two more");
  const auto c = rig.the("unknown");
  check(c.isSilent && c.playback == Playback::kPlaying, "one that says not what it plays is silent");
  // It is waited for, not asked twice at a time, unless this machine is too busy to notice that in time.
  bool isAskedOnce = false;
  for (int tries = 0; tries < 5 && !isAskedOnce; ++tries) {
    const long asked = countOf("asked c");
    say("renew c");
    say("fire sessions");
    check(comes([&] { return countOf("asked c") > asked; }), "another object is asked");
    say("fire metadata c");
    say("fire metadata c");
    std::this_thread::sleep_for(milliseconds{150});
    isAskedOnce = countOf("asked c") == asked + 1;
  }
  check(isAskedOnce, "it is not asked twice at a time");
  const std::string id = rig.the("Spotify").id;
  say("remove c");
  say("remove d");
  say("fire sessions");
  check(comes([&] { return rig.read().players.size() == 2; }), "they go");
  check(rig.the("Spotify").id == id, "who stays keeps its number");
  say("renew a");
  say("fire sessions");
  check(comes([&] { return countOf("Session.addPlayback") >= 4; }), "another object is listened to");
  for (int i = 0; i < 80; ++i) say("add x" + std::to_string(i) + " app" + std::to_string(i));
  say("fire sessions");
  check(comes([&] { return rig.read().leftOut == 18; }), "more than anybody has are counted only");
  check(rig.read().players.size() == 64, "and not kept");
  for (int i = 0; i < 80; ++i) say("remove x" + std::to_string(i));
  say("fire sessions");
  check(comes([&] { return rig.read().players.size() == 2; }), "all of them go");
}

}  // namespace smtc_checks
