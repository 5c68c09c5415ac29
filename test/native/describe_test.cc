// The rows that platforms share, made from findings that a platform might have: players, keys, power,
// graphics processors. Compiled and run by describe-program.test.ts; the power manager is this program's own.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "gpu/describe.h"
#include "gpu/nvml_api.h"
#include "host/finding.h"
#include "host/media.h"
#include "host/power.h"
#include "linux/system/libraries.h"

namespace hostwire {

// The answers of the power manager that is linked into this program.
struct FakePower {
  bool isThere = true;
} fakePower;

struct PowerControl::State {};
struct CommandThread::State {};
CommandThread::CommandThread() = default;
CommandThread::~CommandThread() = default;
PowerControl::PowerControl(const CommandThread& /*thread*/, PowerListener /*onPlan*/) {}
PowerControl::~PowerControl() = default;

void PowerControl::describeManager(const std::function<void(const Finding&)>& answer) {
  // Last, and on another thread than the others.
  std::thread([answer] {
    answer(fakePower.isThere ? Finding::works("power", "logind on unix:path=/x")
                             : Finding::missing("power", "no system bus", {"there is none", "start one"}));
  }).join();
}

void PowerControl::support(PowerAction action, const std::function<void(const PowerSupport&)>& answer) {
  if (action == PowerAction::kHibernate) return answer({false, "na"});
  answer({true, ""});
}

}  // namespace hostwire

namespace {

using checks::check;
using hostwire::describeGpus;
using hostwire::describeKeys;
using hostwire::Finding;
using hostwire::Findings;
using hostwire::GpuFinding;
using hostwire::MediaPlayer;
using hostwire::MediaSnapshot;
using hostwire::Playback;

std::string lineOf(const Finding& finding) {
  const char* status = finding.status == Finding::Status::kWorks    ? "works"
                       : finding.status == Finding::Status::kPartly ? "partly"
                                                                    : "missing";
  std::string line = finding.subject + " " + status + ": " + finding.source;
  if (!finding.obstacle.reason.empty()) line += " | " + finding.obstacle.reason;
  if (!finding.obstacle.remedy.empty()) line += " | " + finding.obstacle.remedy;
  return line;
}

void testTexts() {
  checks::equal(hostwire::listOf({}), "", "no name");
  checks::equal(hostwire::listOf({"a", "b", "c", "d", "e"}), "a, b, c, d, e", "as many as are named");
  checks::equal(hostwire::listOf({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 more", "more");
  checks::equal(hostwire::countOf(1, "chip"), "1 chip", "one");
  checks::equal(hostwire::countOf(0, "chip"), "0 chips", "none");
  checks::equal(hostwire::countOf(2, "process", "processes"), "2 processes", "an odd plural");
  checks::equal(hostwire::joinTexts({"a", "", "b", "a"}), "a; b", "each once");
  const auto rows = hostwire::describeOrExplain(
      "cpu", "/p/stat", []() -> Findings { throw std::runtime_error("EACCES: no leave"); });
  checks::equal(lineOf(rows.at(0)), "cpu missing: /p/stat | EACCES: no leave", "what throws");
}

MediaPlayer player(const std::string& name, Playback playback, std::uint32_t cannot = 0) {
  MediaPlayer one;
  one.names = {name};
  one.isSilent = false;
  one.playback = playback;
  one.cannot = cannot;
  return one;
}

std::string media(const MediaSnapshot& snapshot) {
  return lineOf(describePlayers(snapshot, {"the session bus", "no session bus", "log in"}));
}

void testMedia() {
  MediaSnapshot snapshot;
  checks::equal(media(snapshot), "media works: the session bus answers: no players", "no player");
  snapshot.players = {player("mpv", Playback::kPlaying),
                      player("web", Playback::kPaused, (1U << 4) | (1U << 5))};
  checks::equal(media(snapshot),
                "media works: the session bus answers: mpv (playing); web (paused, cannot next, previous)",
                "players");
  MediaPlayer mute;
  mute.names = {"mute"};
  snapshot.players = {mute, player("mpv", Playback::kStopped)};
  snapshot.leftOut = 7;
  checks::equal(
      media(snapshot),
      "media partly: the session bus answers: mute (does not answer); mpv (stopped) and 7 more | a player "
      "does not answer",
      "a silent one");
  snapshot.absence = "there is no bus";
  checks::equal(media(snapshot), "media missing: no session bus | there is no bus | log in", "no bus");
}

void testKeys() {
  const hostwire::Obstacle absent{"no device", "load uinput"};
  checks::equal(lineOf(describeKeys(std::nullopt, true)),
                "keys works: used, because no player can be reached", "needed");
  checks::equal(lineOf(describeKeys(std::nullopt, false)), "keys works: not needed", "not needed");
  checks::equal(lineOf(describeKeys(absent, true)), "keys missing: no media keys | no device | load uinput",
                "needed, and not there");
  checks::equal(lineOf(describeKeys(absent, false)), "keys partly: no media keys | no device | load uinput",
                "not there, and not needed");
}

void testPower() {
  const hostwire::CommandThread thread;
  hostwire::PowerControl power(thread, [](const auto&) {});
  std::string lines;
  const auto note = [&lines](const Findings& findings) {
    for (const Finding& finding : findings) lines += lineOf(finding) + "\n";
  };
  power.describe(note);
  checks::equal(lines,
                "power works: logind on unix:path=/x\nshutdown works: possible\nrestart works: possible\n"
                "sleep works: possible\nhibernate missing: not possible | na\nlock works: possible\n",
                "each action");
  lines.clear();
  hostwire::fakePower.isThere = false;
  power.describe(note);
  checks::equal(lines, "power missing: no system bus | there is none | start one\n",
                "the reason once, not six times");
}

GpuFinding card(GpuFinding::State state, const hostwire::Obstacle& obstacle = {}) {
  GpuFinding gpu;
  gpu.address = "0000:01:00.0";
  gpu.vendor = "NVIDIA";
  gpu.name = "Card";
  gpu.driver = "nvidia";
  gpu.state = state;
  gpu.source = "NVML";
  gpu.obstacle = obstacle;
  gpu.values.loadPercent = 1;
  gpu.values.clockMhz = 100;
  return gpu;
}

std::string gpus(const std::vector<GpuFinding>& found) { return lineOf(describeGpus(found, "/s/devices")); }

void testGpus() {
  using State = GpuFinding::State;
  check(gpus({}).starts_with("gpu missing: /s/devices | no device of NVIDIA, AMD, Intel"), "none");
  const std::string read =
      "Card (nvidia, 0000:01:00.0): load, clock from NVML, without temperature, memory, power, fan";
  checks::equal(gpus({card(State::kRead)}), "gpu works: " + read, "read");
  checks::equal(gpus({card(State::kAsleep)}),
                "gpu works: Card (nvidia, 0000:01:00.0) is asleep and is not woken", "asleep");
  const std::string waiting = "Card (nvidia, 0000:01:00.0) has not answered yet";
  checks::equal(gpus({card(State::kWaiting)}), "gpu missing: Card (nvidia, 0000:01:00.0) | " + waiting,
                "waiting");
  check(describeGpus({card(State::kWaiting)}, "").isPending, "may answer yet");
  check(!describeGpus({card(State::kRead)}, "").isPending, "has answered");
  checks::equal(gpus({card(State::kRead), card(State::kWaiting)}),
                "gpu partly: " + read + "; Card (nvidia, 0000:01:00.0) | " + waiting, "one of two");
  checks::equal(
      gpus({card(State::kUnreadable, {"no permission", "give access"})}),
      "gpu missing: Card (nvidia, 0000:01:00.0) | Card (nvidia, 0000:01:00.0): no permission | give access",
      "unreadable");
  GpuFinding iris = card(State::kRead);
  iris.driver = "i915";
  iris.values.loadPercent.reset();
  iris.loadRemedy = "run it as root";
  check(gpus({iris}).ends_with(" | the load of Card (i915, 0000:01:00.0) is not known | run it as root"),
        "without its load");
  GpuFinding bare = card(State::kUnreadable, {"no driver is loaded for it", "load it"});
  bare.name.clear();
  bare.driver.clear();
  check(gpus({bare}).starts_with("gpu missing: NVIDIA (no driver, 0000:01:00.0) | "), "named by its vendor");
}

void testNvmlRemedies() {
  const auto textOf = [](int code) {
    const auto [reason, remedy] = hostwire::nvmlObstacle(code);
    return reason + " | " + remedy;
  };
  checks::equal(
      textOf(18),
      "the library and the loaded driver are of different versions (NVML 18) | restart the machine: NVIDIA's "
      "driver was updated",
      "updated");
  checks::equal(
      textOf(9),
      "the driver is not loaded (NVML 9) | load NVIDIA's driver (on Linux: the kernel module nvidia)",
      "not loaded");
  checks::equal(textOf(4),
                "no permission (NVML 4) | give this user access to the device (on Linux: /dev/nvidia*)",
                "no permission");
  for (const int code : {15, 16})
    check(textOf(code).ends_with(" | see the system's log; restarting the machine helps"), "lost");
  checks::equal(textOf(999), "unknown error (NVML 999) | ", "nothing is known to help");
}

void testCLibrary() {
  for (const char* version : {"2.31", "2.34", "2.100", "3.0"})
    checks::equal(lineOf(hostwire::judgeCLibrary(version)), std::string("c-library works: glibc ") + version,
                  "new enough");
  for (const char* version : {"2.30", "2.9", "1.99", "odd"})
    check(lineOf(hostwire::judgeCLibrary(version)).find("hostwire is built for glibc 2.31 or later") !=
              std::string::npos,
          std::string("too old: ") + version);
  check(hostwire::judgeCLibrary(nullptr).status == Finding::Status::kPartly, "another C library");
}

}  // namespace

int main() {
  testTexts();
  testMedia();
  testKeys();
  testPower();
  testGpus();
  testNvmlRemedies();
  testCLibrary();
  return checks::report();
}
