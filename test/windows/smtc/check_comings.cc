// Sessions come and go.
#include <string>
#include <thread>

#include "rig.h"

namespace smtc_checks {

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
  check(c.isSilent && c.playback == Playback::playing, "one that says not what it plays is silent");
  // It is waited for, not asked twice at a time: unless this machine is too busy to see that in time.
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
