// The part of Windows that knows the sessions: missing, refusing, late, lost; and the end.
#include <string>
#include <thread>

#include "rig.h"

namespace smtc_checks {

void checkMissing() {
  Rig rig;
  const auto snapshot = rig.read();
  check(snapshot.absence.value_or("").find("this version of Windows does not report players: ") == 0,
        "a Windows without the class says so: " + snapshot.absence.value_or("nothing"));
  check(snapshot.absence.value_or("").find("0x80040154") != std::string::npos, "with the number");
  check(snapshot.players.empty(), "and has no players");
  const auto reply = rig.controlId("1", MediaVerb::kPlay);
  check(reply.outcome == MediaOutcome::kGone, "nor takes commands");
}

void checkSessionZero() {
  isZero = true;
  Rig rig;
  check(rig.read().absence.value_or("").find("session 0") != std::string::npos, "session 0 says so");
  isZero = false;
}

void checkManager() {
  const auto absenceOf = [](const std::string& how) {
    say("manager " + how);
    std::string absence;
    {
      Rig rig;
      absence = rig.read().absence.value_or("");
    }
    say("manager " + how.substr(0, how.find(' ')) + " 0");
    return absence;
  };
  for (const char* how :
       {"throw 0x80070005", "error 0x80070015", "error 1", "nothing 1", "broken 2", "lost 1"})
    check(absenceOf(how).find("Windows does not report players at the moment: ") == 0,
          std::string("the manager: ") + how);
  const auto begin = Clock::now();
  equal(absenceOf("hang 1"), "Windows does not report its players", "a manager that never answers");
  check(Clock::now() - begin < milliseconds{2500}, "is waited for a second");
  // A late one still counts.
  say("manager late 2500");
  {
    Rig rig;
    check(rig.read().absence.has_value(), "not yet");
    check(comes([&] { return !rig.read().absence && rig.read().players.size() == 2; }), "but then");
  }
  say("manager late 0");
  say("current !");
  { Rig rig; }
  say("current -");
  {
    Rig rig;
    check(!rig.the("Spotify").lastPlayedMs, "without a current session nobody has played");
  }
  // A lost one comes back.
  {
    Rig rig;
    say("manager lost 1");
    say("fire sessions");
    check(comes([&] { return rig.read().absence.has_value() && rig.read().players.empty(); }), "it is lost");
    say("manager lost 0");
    bool isBack = comes([&] { return !rig.read().absence && rig.read().players.size() == 2; });
    isBack = isBack || comes([&] { return !rig.read().absence && rig.read().players.size() == 2; });
    check(isBack, "and found again");
  }
}

void checkEnds() {
  // An end while everything is under way: answers come, and no object stays.
  auto rig = std::make_unique<Rig>();
  say("do b hang 1");
  std::atomic<int> answers{0};
  rig->players->control(rig->the("vlc").id, MediaVerb::kNext, 0, milliseconds{60'000},
                        [&](const MediaReply&) { ++answers; });
  std::this_thread::sleep_for(milliseconds{100});
  const auto begin = Clock::now();
  rig.reset();
  check(answers == 1 && Clock::now() - begin < milliseconds{1000}, "what is under way ends with the thread");
  say("do b hang 0");
}

void checkNothingKept() {
  check(comes([] { return countOf("handlers") == 0; }), "nobody listens on");
  // The fake itself keeps an object for each of its two sessions. Calls under way are waited for.
  const bool isFreed = comes([] { return liveObjects() == 2; });
  std::string kept = std::to_string(liveObjects());
  for (const std::string kind :
       {"session", "manager", "list", "request", "asking", "command", "properties", "playback", "timeline",
        "controls", "reference", "info", "statics", "factory"})
    kept += ", " + kind + " " + std::to_string(countOf(("live " + kind).c_str()));
  check(isFreed, "no object is kept: " + kept);
}

}  // namespace smtc_checks
