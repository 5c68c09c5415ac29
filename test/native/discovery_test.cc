// Announcing through an Avahi that behaves well, badly and not at all. Prints each failed check and exits 1
// if there was one. Run by programs.test.ts, also under sanitizers.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fake_avahi.h"
#include "host/command_thread.h"
#include "host/discovery.h"
#include "linux/bus/sd_bus.h"

namespace {

using hostwire::Announced;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Kind = fake::Answer::Kind;
using Names = std::vector<std::string>;

int checks = 0;
int failures = 0;

void check(bool isTrue, const std::string& what) {
  ++checks;
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

// Two minutes only guard against what never comes. A call to a slow Avahi fails after 2 s and is made again
// after 30 s, so on a machine with other load the same becomes true, but later.
template <class Condition>
bool comesTrue(Condition condition) {
  const auto end = Clock::now() + std::chrono::minutes{2};
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(milliseconds{1});
  return condition();
}

// The socket of the next bus, which the command threads made from now on connect to.
std::string nextSocket() {
  static int last = 0;
  const std::string path = "/tmp/hostwire-avahi-" + std::to_string(getpid()) + "-" + std::to_string(++last);
  setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
  return path;
}

// The last news, for any thread.
class News {
 public:
  void set(const std::vector<Announced>& now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
  }
  // The names that are announced; of the others the reasons, after "!".
  Names lines() {
    const std::lock_guard lock(mutex_);
    Names lines;
    for (const Announced& each : now_) lines.push_back(each.isAnnounced ? each.name : "!" + each.reason);
    return lines;
  }

 private:
  std::mutex mutex_;
  std::vector<Announced> now_;
};

std::vector<hostwire::Announcement> listOf(const Names& names) {
  std::vector<hostwire::Announcement> list;
  for (const std::string& name : names) list.push_back({name, 9990, "", {"txtvers=1", "id=\xff"}});
  return list;
}

// A fake Avahi, and the code that speaks to it. A destroyed rig has stopped its command thread first, as an
// environment of Node.js does.
struct Rig {
  Rig() = default;
  ~Rig() { thread.stop(); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // Returns when the former announcements have been withdrawn.
  void announce(const Names& names) {
    const auto done = std::make_shared<std::promise<void>>();
    discovery->announce(listOf(names), [done] { done->set_value(); });
    done->get_future().get();
  }
  // Whether the news become these lines.
  bool becomes(const Names& lines) {
    const bool did = comesTrue([&] { return news.lines() == lines; });
    if (!did)
      for (const std::string& line : news.lines()) std::printf("the news are: %s\n", line.c_str());
    return did;
  }
  std::string describe() {
    const auto promise = std::make_shared<std::promise<std::string>>();
    discovery->describe([promise](const hostwire::Finding& finding) {
      promise->set_value(finding.source +
                         (finding.obstacle.reason.empty() ? "" : ": " + finding.obstacle.reason));
    });
    return promise->get_future().get();
  }

  const std::string socket = nextSocket();
  std::unique_ptr<fake::Avahi> avahi = std::make_unique<fake::Avahi>(socket);
  hostwire::CommandThread thread;
  News news;
  std::unique_ptr<hostwire::Discovery> discovery = std::make_unique<hostwire::Discovery>(
      thread, [this](const std::vector<Announced>& now) { news.set(now); });
};

bool comesToBe(Rig& rig, const Names& names) {
  return comesTrue([&] { return rig.avahi->names() == names; });
}

// Answers calls of `member` so.
void answer(Rig& rig, const std::string& member, const fake::Answer& given) {
  rig.avahi->answerBy([=](const fake::Call& call) -> std::optional<fake::Answer> {
    if (call.member == member) return given;
    return std::nullopt;
  });
}

void announcesAndWithdraws() {
  Rig rig;
  check(rig.describe().starts_with("avahi 0.8 on unix:path="), "the row of the doctor: " + rig.describe());
  rig.announce({"desk", "desk (https)"});
  check(rig.becomes({"desk", "desk (https)"}), "both are announced");
  check(comesToBe(rig, {"desk", "desk (https)"}), "at Avahi");
  rig.announce({"other"});
  check(rig.avahi->names().empty() || rig.avahi->names() == Names{"other"}, "the former ones are withdrawn");
  check(rig.becomes({"other"}) && comesToBe(rig, {"other"}), "replaced");
  rig.announce({});
  check(rig.avahi->groups().empty(), "withdrawn before the answer");
  check(rig.becomes({}), "nothing is announced");
  rig.avahi->emitState(2);
  for (int i = 0; i < 50; ++i) rig.announce({"n" + std::to_string(i)});
  check(rig.becomes({"n49"}) && comesToBe(rig, {"n49"}), "the last of many is announced");
  check(rig.avahi->groups().size() == 1, "and is the only one that Avahi has");
}

void findsAnotherName() {
  Rig rig;
  rig.avahi->take({"desk"}, {"desk'"});
  rig.announce({"desk", "sofa"});
  check(rig.becomes({"desk''", "sofa"}), "a name that is refused, and one that collides later");
  check(comesToBe(rig, {"desk''", "sofa"}), "at Avahi");
  Names all{"desk"};
  for (int i = 0; i < 60; ++i) all.push_back(all.back() + "'");
  rig.avahi->take({all.begin(), all.end()});
  rig.announce({"desk"});
  check(rig.becomes({"!all names like \"desk\" are taken"}), "no name is free");
  rig.avahi->take({});
  rig.avahi->emitState(2);
  check(rig.becomes({"desk"}), "until one is");
}

void goesAndComesBack() {
  Rig rig;
  rig.announce({"desk", "sofa"});
  check(rig.becomes({"desk", "sofa"}), "announced");
  for (int i = 0; i < 3; ++i) {
    rig.avahi->end();
    check(rig.becomes({"!Avahi has ended", "!Avahi has ended"}), "Avahi ends");
    rig.avahi->begin();
    check(rig.becomes({"desk", "sofa"}) && comesToBe(rig, {"desk", "sofa"}), "announced again");
  }
  rig.avahi->emitState(1);
  rig.avahi->emitState(2);
  check(comesTrue([&] { return rig.avahi->bus().count("EntryGroupNew") == 10; }), "the host has a new name");
  check(rig.becomes({"desk", "sofa"}) && comesToBe(rig, {"desk", "sofa"}), "announced for it");
  check(comesTrue([&] { return rig.avahi->groups().size() == 2; }), "nothing is left of before");
  rig.avahi.reset();
  check(comesTrue([&] {
          const Names lines = rig.news.lines();
          return lines.size() == 2 && lines[0].starts_with("!no system bus: ");
        }),
        "the bus is gone");
  rig.avahi = std::make_unique<fake::Avahi>(rig.socket);
  check(rig.becomes({"desk", "sofa"}) && comesToBe(rig, {"desk", "sofa"}), "announced on another bus");
  rig.announce({});
  rig.avahi->end();
  rig.avahi->begin();
  check(rig.describe().starts_with("avahi"), "there");
  check(rig.becomes({}) && rig.avahi->groups().empty(), "what was withdrawn stays so");
}

void reportsRefusals() {
  const auto becomes = [](const std::string& member, const fake::Answer& given, const std::string& reason) {
    Rig rig;
    answer(rig, member, given);
    rig.announce({"desk"});
    check(rig.becomes({reason}), member + ": " + reason);
  };
  const fake::Answer no{Kind::error, fake::textBody("no\nTraceback"), ""};
  for (const char* member : {"GetState", "EntryGroupNew", "AddService", "Commit"})
    becomes(member, no, "!Avahi refuses: no");
  becomes("GetState", {Kind::body, fake::numberBody(4), ""}, "!Avahi has failed");
  becomes("GetState", {Kind::body, fake::textBody("running"), ""},
          "!Avahi sent an answer in an unknown format");
  becomes("EntryGroupNew", {Kind::body, fake::numberBody(7), ""},
          "!Avahi sent an answer in an unknown format");
  becomes("EntryGroupNew", {Kind::body, fake::textBody("not a path"), ""},
          "!Avahi sent an answer in an unknown format");
  becomes("AddService", {Kind::nothing, {}, ""}, "!Avahi does not answer");
  Rig rig;
  rig.announce({"desk"});
  check(rig.becomes({"desk"}), "announced");
  for (const std::string& group : rig.avahi->groups()) rig.avahi->emitGroupState(group, 4, "no interface");
  check(rig.becomes({"!Avahi has failed: no interface"}), "it fails later");
  rig.avahi->end();
  check(rig.describe() == "no Avahi: Avahi is not on the system bus", rig.describe());
}

// Answers and signals of any shape, among them some that fit.
void survivesAnything() {
  Rig rig;
  std::mt19937 random(5);
  std::mt19937 bodies(3);
  const auto any = [](std::mt19937& source) {
    return fake::randomBody(source, fake::randomSignature(source, 3));
  };
  rig.avahi->answerBy([&](const fake::Call&) -> std::optional<fake::Answer> {
    if (bodies() % 3 != 0) return std::nullopt;
    return fake::Answer{bodies() % 40 == 0 ? Kind::nothing : Kind::body, any(bodies), "",
                        bodies() % 5 == 0 ? 2 : 1};
  });
  for (int round = 0; round < 60; ++round) {
    rig.discovery->announce(listOf({"desk", "sofa"}), [] {});
    for (int i = 0; i < 40; ++i) {
      rig.avahi->emitOwner(fake::randomBody(random, "sss"));
      rig.avahi->emitState(static_cast<std::int32_t>(random()));
      for (const std::string& group : rig.avahi->groups())
        rig.avahi->emitGroupState(group, static_cast<std::int32_t>(random() % 6));
      if (rig.avahi->groups().size() > 20) break;
    }
    std::this_thread::sleep_for(milliseconds{5});
  }
  rig.avahi->answerBy(nullptr);
  rig.avahi->end();  // what was never freed ends with it
  rig.avahi->begin();
  rig.announce({"desk"});
  check(rig.becomes({"desk"}) && comesToBe(rig, {"desk"}), "announced when all is well again");
}

void survivesFloods() {
  Rig rig;
  rig.announce({"desk"});
  check(rig.becomes({"desk"}), "announced");
  for (int i = 0; i < 300; ++i) rig.avahi->emitState(2);
  check(comesTrue([&] { return rig.describe().starts_with("avahi"); }), "all were heard");
  check(rig.becomes({"desk"}) && comesToBe(rig, {"desk"}), "announced after a flood");
  check(comesTrue([&] { return rig.avahi->groups().size() == 1; }), "and once");
  const Names groups = rig.avahi->groups();
  for (int i = 0; i < 3000 && !groups.empty(); ++i) rig.avahi->emitGroupState(groups.front(), 3);
  check(comesTrue([&] { return rig.describe().starts_with("avahi"); }), "all were heard");
  const int renames = rig.avahi->bus().count("GetAlternativeServiceName");
  check(renames > 0 && renames <= 50, "renamed only so often: " + std::to_string(renames));
  rig.announce({"sofa"});
  check(rig.becomes({"sofa"}) && comesToBe(rig, {"sofa"}), "another name is announced");
}

// Everything is under way when its owner goes, in either order.
void endsUnderWay() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> withdrawn{0};
    {
      Rig rig;
      if (round % 4 == 1) answer(rig, "EntryGroupNew", {Kind::nothing, {}, ""});
      if (round % 4 == 2) answer(rig, "Free", {Kind::nothing, {}, ""});
      if (round % 4 == 3) answer(rig, "Commit", {Kind::nothing, {}, ""});
      std::vector<std::thread> askers;
      for (int i = 0; i < 3; ++i)
        askers.emplace_back([&] {
          for (int n = 0; n < 4; ++n) rig.discovery->announce(listOf({"desk"}), [&] { ++withdrawn; });
        });
      for (std::thread& asker : askers) asker.join();
      std::this_thread::sleep_for(milliseconds{round});
      if (round % 2 == 0) rig.discovery.reset();
    }
    check(withdrawn == 12, "each announcement is answered once: " + std::to_string(withdrawn));
  }
  Rig rig;
  rig.thread.stop();
  rig.announce({"desk"});
  check(rig.describe().find("the service is stopping") != std::string::npos, rig.describe());
}

}  // namespace

int main() {
  if (hostwire::sdbus::findLibrary() == nullptr) {
    std::printf("no library\n");
    return 77;
  }
  announcesAndWithdraws();
  findsAnotherName();
  goesAndComesBack();
  reportsRefusals();
  survivesAnything();
  survivesFloods();
  endsUnderWay();
  std::printf("%s: %d checks\n", failures == 0 ? "all well" : "failed", checks);
  return failures == 0 ? 0 : 1;
}
