// The tools of the checks of the media sessions: the made-up Windows, and the players as the addon holds
// them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../checks.h"
#include "fake_smtc.h"
#include "host/command_thread.h"
#include "host/media.h"

namespace smtc_checks {

using checks::check;
using checks::comes;
using checks::equal;
using hostwire::MediaOutcome;
using hostwire::MediaPlayer;
using hostwire::MediaReply;
using hostwire::MediaSnapshot;
using hostwire::MediaVerb;
using hostwire::Playback;
using hostwire::Repeat;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Functions of the library, once `loadFake` has found them.
extern FakeSmtcCommand command;
extern FakeSmtcCount countOf;
extern FakeSmtcLive liveObjects;
extern FakeSmtcPosition lastPosition;

// Whether the service appears to run in session 0.
extern bool isZero;

// Whether the library is there.
bool loadFake(const wchar_t* path);
// In the registry: from then on Windows has the class, and before it has not.
void enroll(const std::wstring& path);
void strikeOut();

void say(const std::string& text);
// Two sessions: a, paused, with every value there is, and b, stopped, with few.
void makeTwo();
bool isCannot(const MediaPlayer& player, MediaVerb verb);

// The addon's own objects: a command thread and the players.
struct Rig {
  hostwire::CommandThread thread;
  std::atomic<int> changes{0};
  std::unique_ptr<hostwire::MediaPlayers> players;

  Rig() {
    players = std::make_unique<hostwire::MediaPlayers>(thread, [this] { ++changes; });
    players->watch();
    check(comes([this] { return read().isSettled; }), "the players settle");
  }
  ~Rig() {
    thread.stop();
    players.reset();
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  MediaSnapshot read() { return players->read(); }
  std::optional<MediaPlayer> find(const std::string& name) {
    for (const MediaPlayer& each : read().players)
      if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) return each;
    return std::nullopt;
  }
  MediaPlayer the(const std::string& name) {
    const auto found = find(name);
    check(found.has_value(), "there is " + name);
    return found.value_or(MediaPlayer{});
  }
  MediaReply control(const std::string& name, MediaVerb verb, double value = 0, int limitMs = 1000) {
    return controlId(the(name).id, verb, value, limitMs);
  }
  MediaReply controlId(const std::string& id, MediaVerb verb, double value = 0, int limitMs = 1000) {
    struct Answer {
      std::atomic<int> times{0};
      MediaReply reply;
    };
    const auto answer = std::make_shared<Answer>();
    players->control(id, verb, value, milliseconds{limitMs}, [answer](const MediaReply& reply) {
      answer->reply = reply;
      ++answer->times;
    });
    check(comes([&] { return answer->times > 0; }), "a command is answered");
    check(answer->times == 1, "once");
    return answer->reply;
  }
};

// In the order they run; each starts from the state that the previous one left.
void checkMissing();
void checkSessionZero();
void checkReading(Rig& rig);
void checkCommands(Rig& rig);
void checkRefusals(Rig& rig);
void checkNews(Rig& rig);
void checkHanging(Rig& rig);
void checkStuck(Rig& rig);
void checkBroken(Rig& rig);
void checkComings(Rig& rig);
void checkSlow();
void checkManager();
void checkEnds();
void checkNothingKept();

}  // namespace smtc_checks
