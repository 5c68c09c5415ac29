// The media sessions as the addon is given them by native/windows, with fake_smtc.dll in place of Windows'
// own: players, commands, refusals, news. Its argument: the path of that DLL. Compiled and run by
// smtc.test.ts.
#include <windows.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks.h"
#include "fake_smtc.h"
#include "host/command_thread.h"
#include "host/media.h"
#include "windows/session_zero.h"

namespace {

bool isZero = false;

}  // namespace

// In place of native/windows/session_zero.cc.
namespace hostwire {
bool isInSessionZero() { return isZero; }
}  // namespace hostwire

namespace {

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

constexpr const wchar_t* kKey =
    L"Software\\Microsoft\\WindowsRuntime\\ActivatableClassId\\"
    L"Windows.Media.Control.GlobalSystemMediaTransportControlsSessionManager";

FakeSmtcCommand command = nullptr;
FakeSmtcCount countOf = nullptr;
FakeSmtcLive liveObjects = nullptr;
FakeSmtcPosition lastPosition = nullptr;

void say(const std::string& text) { check(command(text.c_str()), text); }

void enroll(const std::wstring& path) {
  HKEY key = nullptr;
  check(RegCreateKeyExW(HKEY_LOCAL_MACHINE, kKey, 0, nullptr, 0, KEY_WRITE, nullptr, &key, nullptr) == 0,
        "the class can be enrolled");
  RegSetValueExW(key, L"DllPath", 0, REG_SZ, reinterpret_cast<const BYTE*>(path.c_str()),
                 static_cast<DWORD>((path.size() + 1) * sizeof(wchar_t)));
  RegCloseKey(key);
}

template <class Function>
void find(HMODULE module, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
}

// What the addon holds: a command thread and the players.
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

bool isCannot(const MediaPlayer& player, MediaVerb verb) {
  return (player.cannot >> static_cast<unsigned>(verb) & 1U) != 0;
}

void checkMissing() {
  Rig rig;
  const auto snapshot = rig.read();
  check(snapshot.absence.value_or("").find("this Windows does not tell of players: ") == 0,
        "a Windows without the class says so: " + snapshot.absence.value_or("nothing"));
  check(snapshot.absence.value_or("").find("0x80040154") != std::string::npos, "with the number");
  check(snapshot.players.empty(), "and has no players");
  const auto reply = rig.controlId("1", MediaVerb::play);
  check(reply.outcome == MediaOutcome::gone, "nor takes commands");
}

void checkSessionZero() {
  isZero = true;
  Rig rig;
  check(rig.read().absence.value_or("").find("session 0") != std::string::npos, "session 0 says so");
  isZero = false;
}

void makeTwo() {
  say("add a SpotifyAB.SpotifyMusic_zpdnekdrzrea0!Spotify");
  say("set a status 5");
  say("set a title Blue in Green");
  say("set a artist Miles Davis");
  say("set a album Kind of Blue");
  say("set a start 10000000");
  say("set a end 3380000000");
  say("set a position 130000000");
  say("set a rate 1");
  say("set a shuffle 1");
  say("set a repeat 2");
  say("add b C:\\Program Files\\VideoLAN\\VLC\\vlc.exe");
  say("set b status 3");
  say("set b albumartist Various");
  say("set b title <D800>x");
}

void checkReading(Rig& rig) {
  const auto snapshot = rig.read();
  check(!snapshot.absence, "players are heard of");
  check(snapshot.players.size() == 2 && snapshot.leftOut == 0, "both");
  const auto a = rig.the("Spotify");
  equal(a.names.back(), "SpotifyAB.SpotifyMusic_zpdnekdrzrea0!Spotify", "its whole name");
  check(!a.isSilent && a.playback == Playback::paused, "paused");
  equal(a.title, "Blue in Green", "title");
  equal(a.artists.empty() ? "" : a.artists.front(), "Miles Davis", "artist");
  equal(a.album.value_or(""), "Kind of Blue", "album");
  check(a.durationSeconds == 337.0, "duration");
  check(a.positionSeconds == 12.0, "position, from where the timeline begins");
  check(a.rate == 1.0 && a.shuffle == true && a.repeat == Repeat::playlist, "rate, shuffle, repeat");
  check(!a.artUrl && !a.volume, "no picture, no volume");
  check(a.lastPlayedMs.has_value(), "the current one counts as the last that played");
  check(isCannot(a, MediaVerb::setVolume), "volume is not the player's");
  check(!isCannot(a, MediaVerb::play) && !isCannot(a, MediaVerb::seek), "the rest is");
  const auto b = rig.the("vlc");
  check(b.playback == Playback::stopped && !b.lastPlayedMs, "stopped, and never played");
  equal(b.title, "\xEF\xBF\xBDx", "half a character is replaced");
  equal(b.artists.empty() ? "" : b.artists.front(), "Various", "the album's artist in place of the track's");
  check(!b.durationSeconds && !b.positionSeconds && !b.rate && !b.shuffle && !b.repeat, "nothing is made up");
}

void checkCommands(Rig& rig) {
  const auto done = [&](MediaVerb verb, const char* slot, double value = 0) {
    const long before = countOf(slot);
    const auto reply = rig.control("Spotify", verb, value);
    check(reply.outcome == MediaOutcome::done && reply.reason.empty(),
          std::string(slot) + ": " + reply.reason);
    check(countOf(slot) == before + 1, std::string(slot) + " is asked once");
  };
  done(MediaVerb::play, "Session.tryPlay");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").playback == Playback::playing; }), "it plays");
  const auto again = rig.control("Spotify", MediaVerb::play);
  check(again.outcome == MediaOutcome::done && countOf("Session.tryPlay") == 1, "play twice is asked once");
  const double position = rig.the("Spotify").positionSeconds.value_or(-1);
  check(position >= 12.0, "its position goes on");
  check(comes([&] { return rig.the("Spotify").positionSeconds.value_or(-1) > position; }), "and on");
  done(MediaVerb::pause, "Session.tryPause");
  check(rig.control("Spotify", MediaVerb::pause).outcome == MediaOutcome::done, "pause twice");
  check(countOf("Session.tryPause") == 1, "is asked once");
  done(MediaVerb::playPause, "Session.tryTogglePlayPause");
  done(MediaVerb::next, "Session.trySkipNext");
  done(MediaVerb::previous, "Session.trySkipPrevious");
  done(MediaVerb::seek, "Session.tryChangePlaybackPosition", 61.5);
  check(lastPosition() == 10'000'000 + 615'000'000, "to where the track's own time is");
  check(comes([&] { return std::abs(rig.the("Spotify").positionSeconds.value_or(0) - 61.5) < 1; }),
        "and the new position is asked for");
  done(MediaVerb::stop, "Session.tryStop");
  check(rig.control("Spotify", MediaVerb::setVolume, 1).outcome == MediaOutcome::failed, "no volume");
}

void checkRefusals(Rig& rig) {
  say("do b refuse 1");
  auto reply = rig.control("vlc", MediaVerb::next);
  check(reply.outcome == MediaOutcome::failed && reply.reason == "it refused", "a refusal: " + reply.reason);
  say("do b refuse 0");
  say("do b error 0x80070015");
  reply = rig.control("vlc", MediaVerb::next);
  check(reply.outcome == MediaOutcome::failed && reply.reason.find("0x80070015") != std::string::npos,
        "an error: " + reply.reason);
  say("do b noinfo 1");
  reply = rig.control("vlc", MediaVerb::next);
  check(reply.outcome == MediaOutcome::failed && reply.reason.find("0x80004005") != std::string::npos,
        "an error that is not told: " + reply.reason);
  say("do b noinfo 0");
  say("do b error 1");
  reply = rig.control("vlc", MediaVerb::next);
  check(reply.reason == "Windows has cancelled it", "cancelled: " + reply.reason);
  say("do b error 0");
  say("do b throw 0x80010108");
  reply = rig.control("vlc", MediaVerb::next);
  check(reply.outcome == MediaOutcome::gone, "a player that is gone: " + reply.reason);
  say("do b throw 0x80070005");
  reply = rig.control("vlc", MediaVerb::next);
  check(reply.outcome == MediaOutcome::failed, "one that may not be asked: " + reply.reason);
  say("do b throw 0");
  say("do b broken 2");
  check(rig.control("vlc", MediaVerb::next).outcome == MediaOutcome::failed,
        "an operation that can't be waited for");
  say("do b broken 0");
  check(rig.controlId("77", MediaVerb::play).outcome == MediaOutcome::gone, "nobody of that number");
  say("do b late -1");
  check(rig.control("vlc", MediaVerb::next).outcome == MediaOutcome::done,
        "an operation that is over at once");
  say("do b late 0");
}

void checkHanging(Rig& rig) {
  say("do b hang 1");
  const auto begin = Clock::now();
  const auto reply = rig.control("vlc", MediaVerb::next, 0, 300);
  const auto took = Clock::now() - begin;
  check(reply.outcome == MediaOutcome::unanswered, "a player that never answers: " + reply.reason);
  check(reply.reason == "it did not answer within 300 ms", reply.reason);
  check(took >= milliseconds{290} && took < milliseconds{1500}, "costs what it was given");
  check(rig.control("Spotify", MediaVerb::next).outcome == MediaOutcome::done, "and nobody else anything");
  const long first = countOf("Session.trySkipNext");
  for (int i = 0; i < 7; ++i) rig.control("vlc", MediaVerb::next, 0, 1);
  // An answer that is late is given before the player may have been asked.
  check(comes([&] { return countOf("Session.trySkipNext") == first + 7; }), "each is asked all the same");
  const long asked = countOf("Session.trySkipNext");
  check(rig.control("vlc", MediaVerb::next, 0, 300).reason == "it has not answered the last commands",
        "it is not asked for ever");
  check(countOf("Session.trySkipNext") == asked, "really not");
  say("do b hang 0");
}

void checkStuck(Rig& rig) {
  // A call that hangs itself: Windows', not a player's. Everybody waits, and nobody longer than allowed.
  say("do b stuck 1200");
  say("fire playback b");
  std::this_thread::sleep_for(milliseconds{100});
  const auto begin = Clock::now();
  const auto reply = rig.control("Spotify", MediaVerb::next, 0, 300);
  check(reply.outcome == MediaOutcome::unanswered && Clock::now() - begin < milliseconds{1000},
        "a call that does not return costs no more than allowed");
  check(!rig.read().players.empty(), "and what is known is still told");
  say("do b stuck 0");
  check(comes([&] { return rig.control("Spotify", MediaVerb::next).outcome == MediaOutcome::done; }),
        "until it returns");
}

void checkNews(Rig& rig) {
  const int before = rig.changes;
  const long reads = countOf("Session.getPlaybackInfo");
  say("set a status 4");
  say("set a title So What");
  say("fire metadata a");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").title == "So What"; }), "a new title is told");
  check(comes([&] { return rig.the("Spotify").playback == Playback::playing; }), "and that it plays");
  check(rig.changes > before, "somebody is told");
  say("fire playback a 5000");
  say("fire timeline a 5000");
  std::this_thread::sleep_for(milliseconds{300});
  const long more = countOf("Session.getPlaybackInfo") - reads;
  check(more < 30, "a flood of events is read at a pace: " + std::to_string(more));
  say("set a status 2");
  say("fire playback a");
  std::this_thread::sleep_for(milliseconds{150});
  check(rig.the("Spotify").playback == Playback::playing, "while it changes it is what it was");
  say("set a enabled 0");
  say("set a status 5");
  say("fire playback a");
  check(comes([&] { return rig.the("Spotify").playback == Playback::paused; }), "paused");
  const auto a = rig.the("Spotify");
  check(isCannot(a, MediaVerb::play) && isCannot(a, MediaVerb::next), "what is not enabled it can't do");
  check(!isCannot(a, MediaVerb::pause), "but be asked for what is so already");
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
  check(comes([&] { return isCannot(rig.the("Spotify"), MediaVerb::play); }),
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
  check(rig.the("Spotify").playback == Playback::paused, "a session that can't be asked stays as it was");
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
  check(c.isSilent && c.playback == Playback::playing, "one that says not what it plays is silent");
  // Asked again, and again: it is waited for, not asked twice at a time.
  const long asked = countOf("Session.tryGetMediaProperties");
  say("fire metadata c");
  say("fire metadata c");
  std::this_thread::sleep_for(milliseconds{150});
  check(countOf("Session.tryGetMediaProperties") == asked, "it is not asked twice at a time");
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
    check(absenceOf(how).find("Windows does not tell of players now: ") == 0,
          std::string("the manager: ") + how);
  const auto begin = Clock::now();
  equal(absenceOf("hang 1"), "Windows does not answer who plays", "a manager that never answers");
  check(Clock::now() - begin < milliseconds{2500}, "is waited for a second");
  // A late one is heard all the same.
  say("manager late 1300");
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
  // One that is lost comes back.
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
  // Ending with everything under way: answers come, and no object stays.
  auto rig = std::make_unique<Rig>();
  say("do b hang 1");
  std::atomic<int> answers{0};
  rig->players->control(rig->the("vlc").id, MediaVerb::next, 0, milliseconds{60'000},
                        [&](const MediaReply&) { ++answers; });
  std::this_thread::sleep_for(milliseconds{100});
  const auto begin = Clock::now();
  rig.reset();
  check(answers == 1 && Clock::now() - begin < milliseconds{1000}, "what is under way ends with the thread");
  say("do b hang 0");
}

}  // namespace

int wmain(int, wchar_t** arguments) {
  RegDeleteKeyW(HKEY_LOCAL_MACHINE, kKey);
  checkMissing();
  enroll(arguments[1]);
  const HMODULE fake = LoadLibraryW(arguments[1]);
  check(fake != nullptr, "fake_smtc.dll is there");
  if (fake == nullptr) return checks::report();
  find(fake, "fakeSmtcCommand", command);
  find(fake, "fakeSmtcCount", countOf);
  find(fake, "fakeSmtcLive", liveObjects);
  find(fake, "fakeSmtcPosition", lastPosition);
  checkSessionZero();
  {
    Rig rig;
    check(!rig.read().absence && rig.read().players.empty(), "no sessions: no players, and nothing is wrong");
  }
  makeTwo();
  say("current a");
  {
    Rig rig;
    checkReading(rig);
    checkCommands(rig);
    checkRefusals(rig);
    checkNews(rig);
    checkHanging(rig);
    checkStuck(rig);
    checkBroken(rig);
    checkComings(rig);
  }
  checkManager();
  checkEnds();
  check(countOf("unexpected") == 0, "no slot is called that nobody should call");
  check(countOf("no handler") == 0, "every handler is what it is asked for");
  check(countOf("no token") == 0, "every token is one that was given");
  // The fake itself keeps an object for each of its two sessions.
  check(comes([] { return liveObjects() == 2; }), "no object is kept: " + std::to_string(liveObjects()));
  check(comes([] { return countOf("handlers") == 0; }), "nobody listens on");
  return checks::report();
}
