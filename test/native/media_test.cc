// The table of players and the keyboard of media keys, each without the layer below it: no bus, and a kernel
// made up here. Prints each failed check and exits 1 if there was one. Compiled and run by media.test.ts.
#include <linux/uinput.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "host/error.h"
#include "linux/media/keys.h"
#include "linux/media/mpris_players.h"
#include "linux/media/player_users.h"

namespace {

using hostwire::MediaPlayer;
using hostwire::MediaVerb;
using hostwire::Playback;
using hostwire::PlayerNews;
using hostwire::PlayerTable;
using hostwire::TrackMetadata;

int failures = 0;

void check(bool isTrue, const std::string& what) {
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

// A kernel with one uinput device, which records the requests.
struct Kernel {
  int failing = 0;  // the errno of the call named next
  std::string failingCall;
  std::vector<std::string> calls;
  std::vector<unsigned long> requests;
  std::vector<int> keys;
  std::vector<input_event> events;
  uinput_setup setup{};
  int opened = 0;
  int closed = 0;
};
Kernel kernel;

int note(const char* call) {
  kernel.calls.emplace_back(call);
  if (kernel.failingCall != call) return 0;
  errno = kernel.failing;
  return -1;
}

constexpr hostwire::UinputCalls kFakeCalls{
    [](const char*) { return note("access"); },
    [](const char*) {
      if (note("open") < 0) return -1;
      ++kernel.opened;
      return 7;
    },
    [](int fd, unsigned long request, int value) {
      check(fd == 7, "the device's own descriptor");
      kernel.requests.push_back(request);
      if (request == 0x40045565) kernel.keys.push_back(value);
      if (request == 0x40045564) check(value == EV_KEY, "only keys are announced");
      return note(request == 0x5501 ? "create" : "set");
    },
    [](int, unsigned long request, const void* argument) {
      kernel.requests.push_back(request);
      std::memcpy(&kernel.setup, argument, sizeof kernel.setup);
      return note("setup");
    },
    [](int, const void* bytes, std::size_t count) -> ssize_t {
      if (note("write") < 0) return -1;
      const std::size_t size = sizeof(input_event);
      check(count % size == 0, "whole events");
      std::vector<input_event> events(count / size);
      std::memcpy(events.data(), bytes, count);
      kernel.events.insert(kernel.events.end(), events.begin(), events.end());
      return static_cast<ssize_t>(count);
    },
    [](int) { ++kernel.closed; },
};

int codeThrown(hostwire::UinputKeyboard& keyboard, MediaVerb verb) {
  try {
    keyboard.press(verb);
    return 0;
  } catch (const hostwire::HostError& error) {
    return error.code().value();
  }
}

void testKeys() {
  kernel = {};
  {
    hostwire::UinputKeyboard keyboard("/dev/uinput", kFakeCalls);
    check(!keyboard.absence(), "there");
    check(kernel.opened == 0, "asking opens nothing");
    check(keyboard.open(), "new");
    check(!keyboard.open(), "not again");
    // linux/uinput.h as numbers, so that a wrong header cannot agree with itself.
    const std::vector<unsigned long> expected{0x40045564, 0x40045565, 0x40045565, 0x40045565, 0x40045565,
                                              0x40045565, 0x40045565, 0x405c5503, 0x5501};
    check(kernel.requests == expected, "the requests in their order");
    check(kernel.setup.id.bustype == 6, "a virtual device");
    check(std::string(static_cast<const char*>(kernel.setup.name)) == "hostwire media keys", "its name");
    const std::array<std::pair<MediaVerb, int>, 6> keys{{{MediaVerb::kPlay, 200},
                                                         {MediaVerb::kPause, 201},
                                                         {MediaVerb::kPlayPause, 164},
                                                         {MediaVerb::kStop, 166},
                                                         {MediaVerb::kNext, 163},
                                                         {MediaVerb::kPrevious, 165}}};
    for (const auto& [verb, code] : keys) {
      kernel.events.clear();
      keyboard.press(verb);
      check(kernel.events.size() == 4, "press, report, release, report");
      const auto is = [&](std::size_t i, int type, int key, int value) {
        const input_event& event = kernel.events.at(i);
        return event.type == type && event.code == key && event.value == value;
      };
      check(is(0, 1, code, 1) && is(1, 0, 0, 0) && is(2, 1, code, 0) && is(3, 0, 0, 0), "the events");
      bool isAnnounced = false;
      for (const int key : kernel.keys) isAnnounced = isAnnounced || key == code;
      check(isAnnounced, "the key was announced");
    }
    check(codeThrown(keyboard, MediaVerb::kSeek) == EINVAL, "no key for seek");
    check(codeThrown(keyboard, MediaVerb::kSetVolume) == EINVAL, "nor for volume");
    check(kernel.opened == 1 && kernel.closed == 0, "one device, kept");
    kernel.failingCall = "write";
    kernel.failing = ENODEV;
    check(codeThrown(keyboard, MediaVerb::kPlay) == ENODEV, "a device that went away");
    check(kernel.closed == 1, "is closed");
    kernel.failingCall = "";
    check(codeThrown(keyboard, MediaVerb::kPlay) == 0 && kernel.opened == 2, "and made again");
  }
  check(kernel.closed == 2, "closed at the end");
  for (const char* call : {"open", "set", "setup", "create"}) {
    kernel = {};
    kernel.failingCall = call;
    kernel.failing = EPERM;
    hostwire::UinputKeyboard keyboard("/dev/uinput", kFakeCalls);
    check(codeThrown(keyboard, MediaVerb::kPlay) == EPERM, std::string("fails at ") + call);
    check(kernel.opened == kernel.closed && kernel.events.empty(), "and leaves nothing open");
  }
  kernel = {};
  kernel.failingCall = "access";
  kernel.failing = EACCES;
  const hostwire::UinputKeyboard keyboard("/dev/uinput", kFakeCalls);
  check(keyboard.absence() == "/dev/uinput cannot be opened for media keys: Permission denied", "why not");
}

// The real calls, on paths where there is no device.
void testRealCalls() {
  hostwire::UinputKeyboard missing("/nonexistent/dev/uinput", hostwire::systemUinput());
  check(missing.absence() ==
            "/nonexistent/dev/uinput cannot be opened for media keys: No such file or directory",
        "no device");
  check(codeThrown(missing, MediaVerb::kPlay) == ENOENT, "and none is made");
  hostwire::UinputKeyboard file("/dev/null", hostwire::systemUinput());
  check(!file.absence(), "may be opened");
  check(codeThrown(file, MediaVerb::kPlay) == ENOTTY, "but is no uinput");
}

bool isNear(const std::optional<double>& value, double expected) {
  return value && *value > expected - 1e-6 && *value < expected + 1e-6;
}

PlayerNews playing(const std::string& title, double positionSeconds) {
  PlayerNews news;
  news.playback = Playback::kPlaying;
  news.track = TrackMetadata{"/t/" + title, title, {"A"}, {}, {}, false, {}, 60};
  news.positionSeconds = positionSeconds;
  return news;
}

void testNames() {
  PlayerTable table;
  check(table.setOwner("b", ":1.1"), "new");
  check(!table.setOwner("b", ":1.1"), "the same again");
  check(!table.setOwner("a", ":1.1"), "another name of the same");
  check(table.setOwner("c", ":1.2"), "another");
  auto players = table.read(0);
  check(players.size() == 2 && players[0].names == std::vector<std::string>{"a", "b"},
        "by owner, names sorted");
  check(players[0].isSilent && players[0].playback == Playback::kStopped, "nothing told yet");
  check(!table.setOwner("b", ""), "one name goes");
  check(table.has(":1.1"), "the other keeps it");
  check(!table.setOwner("a", ""), "the last goes");
  check(!table.has(":1.1") && table.owners() == std::vector<std::string>{":1.2"}, "and it with it");
  check(table.setOwner("c", ":1.3") && !table.has(":1.2"), "a name that changes hands");
  for (int i = 0; i < 1000; ++i) table.setOwner("n" + std::to_string(i), ":2." + std::to_string(i));
  check(table.read(0).size() == 64 && table.leftOut() == 937, "sixty-four, the rest are counted");
  check(!table.hasCapacityAgain(), "no room");
  for (int i = 999; i >= 63; --i) table.setOwner("n" + std::to_string(i), "");
  check(table.leftOut() == 0 && !table.hasCapacityAgain(), "counted down again");
  table.setOwner("late", ":3.1");
  check(table.leftOut() == 1 && !table.has(":3.1"), "full");
  table.setOwner("c", "");
  check(table.hasCapacityAgain(), "room for the one left out");
  table.clear();
  check(table.read(0).empty() && table.leftOut() == 0, "empty");
  table.replace(":9.9", playing("x", 0), 0, 0);
  table.setAnswered(":9.9");
  check(!table.update(":9.9", playing("x", 0), 0) && !table.positionOf(":9.9", 0),
        "who is not there tells nothing");
}

void testPosition() {
  PlayerTable table;
  table.setOwner("p", ":1.1");
  const auto at = [&](double ms) { return table.positionOf(":1.1", ms); };
  check(!at(0), "not told");
  table.replace(":1.1", playing("one", 10), 1000, 500);
  check(isNear(at(1000), 10) && isNear(at(3500), 12.5), "goes on by itself");
  check(isNear(at(900'000), 60), "not beyond the end");
  check(isNear(at(0), 10), "nor back");
  PlayerNews news;
  news.rate = 2;
  check(!table.update(":1.1", news, 3000), "another speed needs no question");
  check(isNear(at(4000), 14), "12 s at the change, then twice as fast");
  news = {};
  news.playback = Playback::kPaused;
  check(table.update(":1.1", news, 4000), "a pause needs one");
  check(isNear(at(9000), 14), "and stands still meanwhile");
  check(!table.update(":1.1", news, 9000), "told again: nothing new");
  table.setPosition(":1.1", 14.25, 9000);
  check(isNear(at(10'000), 14.25), "as asked");
  check(!table.update(":1.1", playing("one", 20), 10'000), "told with its position: no question");
  check(isNear(at(11'000), 22), "plays on at twice the speed");
  news = {};
  news.track = TrackMetadata{"/t/two", "two", {}, {}, {}, false, {}, {}};
  check(table.update(":1.1", news, 11'000), "another track");
  check(!at(11'000), "the old position is not the new one's");
  table.setPosition(":1.1", 0, 11'000);
  check(isNear(at(12'000), 2), "after the answer");
  news.track = TrackMetadata{"/t/two", "two, renamed", {}, {}, {}, false, {}, {}};
  check(table.update(":1.1", news, 12'000), "a stream's next title is another track too");
  news.track = TrackMetadata{"/t/two", "two, renamed", {}, {}, {}, false, "file:///two.ogg", {}};
  check(table.update(":1.1", news, 12'000), "and so is another file, of players that name neither");
  table.setPosition(":1.1", -3, 12'000);
  check(isNear(at(12'000), 0), "never negative");
  check(*table.trackIdOf(":1.1") == "/t/two" && table.trackIdOf(":1.2") == nullptr, "its track");
}

void testState() {
  PlayerTable table;
  table.setOwner("p", ":1.1");
  table.setAnswered(":1.1");
  check(!table.read(0)[0].isSilent, "an error is an answer");
  PlayerNews news = playing("one", 0);
  news.volume = 0.5;
  news.canGoNext = false;
  table.replace(":1.1", news, 1000, 500);
  MediaPlayer player = table.read(2000)[0];
  check(!player.isSilent && player.playback == Playback::kPlaying && player.title == "one", "told");
  check(isNear(player.lastPlayedMs, 500), "plays since before it was asked");
  check(player.cannot == 1U << static_cast<unsigned>(MediaVerb::kNext), "only next");
  news = {};
  news.playback = Playback::kStopped;
  news.canGoNext = true;
  news.canPause = false;
  table.update(":1.1", news, 3000);
  player = table.read(4000)[0];
  check(isNear(player.lastPlayedMs, 3000), "stopped to play then");
  check(player.title == "one" && isNear(player.volume, 0.5), "what is not told again stays");
  check(player.cannot == ((1U << 1) | (1U << 2)), "neither pause nor toggle");
  news = {};
  news.canControl = false;
  table.update(":1.1", news, 5000);
  check(table.read(5000)[0].cannot == 0xff, "nothing at all");
  news.playback = Playback::kPlaying;
  table.update(":1.1", news, 6000);
  check(isNear(table.read(7000)[0].lastPlayedMs, 6000), "plays since");
  table.replace(":1.1", {}, 8000, 7500);
  player = table.read(8000)[0];
  check(player.title.empty() && !player.volume && player.cannot == 0, "what it no longer says is gone");
  check(player.playback == Playback::kStopped && isNear(player.lastPlayedMs, 8000), "and so is its play");
}

// Whose rights a player's file is read with: the uid, or why not.
std::string userOf(std::optional<std::uint32_t> bus, std::optional<std::uint32_t> lookedUp,
                   std::optional<std::uint32_t> player) {
  using namespace hostwire;
  PlayerUsers users;
  users.begin(bus ? std::optional(UserRights{*bus, 50, {60}}) : std::nullopt,
              lookedUp ? std::optional(BusUser{*lookedUp, 50}) : std::nullopt);
  if (player) users.set(":1.1", *player);
  const PlayerRights rights = users.rightsOf(":1.1");
  if (!rights.user) return rights.reason;
  std::string text = std::to_string(rights.user->uid) + ":" + std::to_string(rights.user->gid);
  for (const std::uint32_t group : rights.user->groups) text += "," + std::to_string(group);
  return text;
}

void testUsers() {
  const std::string other = "the player belongs to another user than its bus";
  const std::string notActive = "the bus is not that of the user at the machine";
  check(userOf(5, 5, 5) == "5:50,60", "the active user's bus and player");
  check(userOf(5, {}, 5) == "5:50,60", "a bus at an address that is set");
  check(userOf(5, 5, 0) == other && userOf(5, {}, 0) == other, "a bus that calls its player root");
  check(userOf(5, {}, 6) == other, "a bus that calls its player somebody else");
  check(userOf(0, {}, 0) == "0:50,60", "root's bus and player");
  check(userOf(0, {}, 5) == "5:65534", "somebody's player on root's bus");
  check(userOf(0, 5, 5) == notActive && userOf(0, 5, 0) == notActive,
        "a user's address that leads to root's bus");
  check(userOf(6, 5, 6) == notActive, "a user's address that leads to another user's bus");
  check(userOf({}, {}, 0) == "the user of the bus is not known", "a bus over TCP");
  check(userOf(5, 5, {}) == "the player's user is not known", "a player whose user the bus did not report");
}

}  // namespace

int main() {
  testUsers();
  testKeys();
  testRealCalls();
  testNames();
  testPosition();
  testState();
  std::printf("%s\n", failures == 0 ? "all well" : "failed");
  return failures == 0 ? 0 : 1;
}
