// A session that at first answers late, wrongly or not at all is still read, without any event from it.
#include <array>
#include <string>
#include <thread>

#include "rig.h"

namespace smtc_checks {

namespace {

constexpr std::array<const char*, 6> kNames{"slow", "lost", "failing", "broken", "outrun", "mute"};

bool isPausedWithTitle(Rig& rig, const std::string& name) {
  const auto player = rig.find(name);
  return player && player->title == "T" + name && player->playback == Playback::kPaused;
}

long countOfSession(const char* what, const char* id) {
  return countOf((std::string(what) + " " + id).c_str());
}

// Each is there, with a title, when the players are first listed.
void makeSlow() {
  for (const std::string name : kNames) {
    say("add " + name + " " + name);
    say("set " + name + " title T" + name);
    say("set " + name + " status 5");
  }
  // Longer than the initial wait, and than the time after which a question is repeated.
  say("do slow latemetadata 1600");
  say("do lost losemetadata 1");
  say("do failing errormetadata 0x80070015");
  say("do broken broken 1");
  // Its second answer comes before the first.
  say("do outrun outrun 1");
  say("do mute mutemetadata 1");
}

// A question without an answer is repeated with later events; open questions do not pile up.
void checkMute() {
  const bool isAsked = comes([] {
    command("fire metadata mute");
    return countOfSession("asked", "mute") >= 5;
  });
  check(isAsked || comes([] { return countOfSession("asked", "mute") >= 5; }), "a mute one is asked again");
  check(comes([] { return countOf("live asking") <= 3; }),
        "but no more than three questions stay open: " + std::to_string(countOf("live asking")));
}

}  // namespace

void checkSlow() {
  makeSlow();
  {
    Rig rig;
    MediaSnapshot first;
    check(comes([&] {
            first = rig.read();
            return !first.players.empty();
          }),
          "sessions are there");
    check(first.players.size() == 2 + kNames.size(), "all of them at once, read or not");
    check(rig.the("mute").isSilent, "one that has not answered is silent");
    check(rig.the("failing").title.empty(), "one that has failed has no title");
    say("do failing errormetadata 0");
    say("do broken broken 0");
    for (const std::string name : kNames) {
      if (name == "mute") continue;
      check(comes([&] { return isPausedWithTitle(rig, name); }), name + " is read without an event");
      check(!rig.the(name).isSilent, name + " has answered");
    }
    check(comes([] { return countOfSession("completed", "outrun") == 2; }), "the first answer comes last");
    std::this_thread::sleep_for(milliseconds{100});
    check(countOfSession("results", "outrun") == 1, "and is not read: it is older");
    check(countOfSession("read", "broken") <= 5, "nobody is asked for ever");
    checkMute();
    // A list that lacks some is asked for again.
    say("manager getat 1");
    say("fire sessions");
    check(comes([&] { return rig.read().players.empty(); }), "sessions that can't be had are not there");
    say("manager getat 0");
    check(comes([&] { return rig.read().players.size() == 2 + kNames.size(); }), "and come without an event");
  }
  for (const std::string name : kNames) say("remove " + name);
}

}  // namespace smtc_checks
