// The promises of the bus core, checked against buses that behave well, badly and not at all. Prints each
// failed check and exits 1 if there was one. Compiled and run, also under sanitizers, by bus.test.ts.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "fake_bus.h"
#include "linux/bus/sd_bus.h"
#include "linux/bus/thread.h"

namespace {

using namespace hostwire;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::atomic<int> failures{0};
// Under a sanitizer, on a busy machine, the same must become true, but later.
int patience = 1;

void check(bool isTrue, const std::string& what) {
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

void checkWithin(long ms, long limit, const std::string& what) {
  check(ms <= limit * patience, what + ": " + std::to_string(ms) + " ms");
}

long elapsedMs(Clock::time_point since) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - since).count();
}

template <class Condition>
bool comesTrue(Condition condition, long limitMs = 3000) {
  const auto started = Clock::now();
  while (!condition() && elapsedMs(started) < limitMs * patience)
    std::this_thread::sleep_for(milliseconds{2});
  return condition();
}

int openFiles() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

std::string folder;
std::string socketPath(const std::string& name) { return folder + "/" + name; }

BusAddresses onlySystem(const std::string& name) {
  return {{addressOfSocket(socketPath(name)), ""}, {"", "no session bus in this test"}};
}

Call callTo(const std::string& member, std::vector<Argument> arguments = {}) {
  return {"fake.Service", "/fake", "fake.Interface", member, std::move(arguments)};
}

struct End {
  CallEnd end;
  std::string errorName;
  std::string errorText;
  std::optional<std::string> text;
  long ms;
};

void send(BusThread& thread, Call call, milliseconds deadline, std::function<void(End)> then) {
  const auto started = Clock::now();
  const bool isPosted = thread.post([=](BusLoop& loop) {
    loop.systemBus().call(call, deadline, [=](Reply& reply) {
      then({reply.end, reply.errorName, reply.errorText, reply.body.text(100), elapsedMs(started)});
    });
  });
  if (!isPosted) then({CallEnd::kNoBus, "", "not posted", std::nullopt, 0});
}

End ask(BusThread& thread, Call call, milliseconds deadline = milliseconds{1000}) {
  auto promise = std::make_shared<std::promise<End>>();
  auto end = promise->get_future();
  send(thread, std::move(call), deadline, [promise](End got) { promise->set_value(std::move(got)); });
  return end.get();
}

fake::Body textBody(std::string_view text) {
  fake::Bytes bytes;
  bytes.putText(text);
  return {"s", bytes.text};
}

// Answers with the member's name; Never, HangUp, Refuse and Garbage do as they are called.
fake::Answer answerOf(const fake::Call& call) {
  using Kind = fake::Answer::Kind;
  if (call.member == "Never") return {Kind::nothing, {}, ""};
  if (call.member == "HangUp") return {Kind::hangUp, {}, ""};
  if (call.member == "Garbage") return {Kind::raw, {}, std::string(4000, '\xfe')};
  if (call.member == "Refuse") return {Kind::error, textBody("no\nTraceback\n" + std::string(9000, 'x')), ""};
  if (call.member == "Descriptors") return {Kind::body, textBody("Descriptors"), "", 1, 8};
  if (call.member == "Twice") return {Kind::body, textBody("Twice"), "", 2};
  return {Kind::body, textBody(call.text.empty() ? call.member : call.text), ""};
}

void answersAndFails() {
  fake::Bus bus(socketPath("a"), answerOf);
  BusThread thread(onlySystem("a"));
  const auto first = ask(thread, callTo("First"));
  check(first.end == CallEnd::kAnswered && first.text == "First", "the first call waits for the connection");
  const std::string name = "Liebe \u20ac";
  check(ask(thread, callTo("Echo", {BasicArgument(name), Boxed{0.5}, BasicArgument(true)})).text == name,
        "arguments arrive");
  check(ask(thread, callTo("Echo", {BasicArgument(std::string("\xff"))})).end == CallEnd::kNoBus,
        "what is no UTF-8 is not sent");
  const auto late = ask(thread, callTo("Never"), milliseconds{200});
  check(late.end == CallEnd::kTimedOut, "no answer: timed out");
  check(late.ms >= 195, "not before its time");
  checkWithin(late.ms, 260, "soon after its time");
  const auto refused = ask(thread, callTo("Refuse"));
  check(refused.end == CallEnd::kRefused && refused.errorName == "fake.Error" && refused.errorText == "no",
        "an error is told in one line");
  check(ask(thread, callTo("Twice")).text == "Twice", "a second answer to a call is nobody's");
  for (const char* member : {"HangUp", "Garbage"}) {
    const auto lost = ask(thread, callTo(member));
    check(lost.end == CallEnd::kLost, std::string(member) + ": lost, not timed out: " + lost.errorText);
    checkWithin(lost.ms, 100, "told at once");
    check(comesTrue([&] { return ask(thread, callTo("Echo")).end == CallEnd::kAnswered; }), "and back");
    check(bus.count(member) == 1, std::string(member) + " was never sent again");
  }
}

// A bus passes descriptors only to clients that negotiate them; they count until the message is dropped.
void takesNoDescriptors() {
  fake::Bus bus(socketPath("d"), answerOf);
  BusThread thread(onlySystem("d"));
  check(ask(thread, callTo("Echo")).text == "Echo", "connected");
  const int before = openFiles();
  std::promise<std::pair<CallEnd, int>> answered;
  thread.post([&](BusLoop& loop) {
    loop.systemBus().call(callTo("Descriptors"), milliseconds{1000}, [&](Reply& reply) {
      answered.set_value({reply.end, openFiles()});
    });
  });
  const auto [end, during] = answered.get_future().get();
  check(end == CallEnd::kAnswered, "the message itself arrives");
  check(during == before, std::to_string(during - before) + " descriptors came with a message");
}

void failsAtOnceWithoutBus() {
  {
    BusThread thread(onlySystem("nobody"));
    const auto none = ask(thread, callTo("Echo"));
    check(none.end == CallEnd::kNoBus && none.errorText.find("No such file") != std::string::npos,
          "no socket: " + none.errorText);
    checkWithin(none.ms, 50, "at once");
  }
  {
    BusThread thread({{"", "DBUS_X is empty"}, {"", ""}});
    check(ask(thread, callTo("Echo")).errorText == "DBUS_X is empty", "no address");
  }
  fake::Bus rejecting(socketPath("r"), answerOf, fake::Bus::Manner::rejecting);
  BusThread thread(onlySystem("r"));
  const auto rejected = ask(thread, callTo("Echo"));
  check(rejected.end == CallEnd::kNoBus, "rejected: " + rejected.errorText);
  checkWithin(rejected.ms, 100, "told at once");
}

void doesNotWaitForAMuteBus() {
  fake::Bus mute(socketPath("m"), answerOf, fake::Bus::Manner::mute);
  BusThread thread(onlySystem("m"));
  thread.post([](BusLoop& loop) { loop.systemBus().addMatch("member='X'", [](Signal&) {}); });
  const auto first = ask(thread, callTo("Echo"), milliseconds{5000});
  check(first.end == CallEnd::kNoBus && first.ms >= 900, "the first caller waits a second");
  checkWithin(first.ms, 1100, "and no longer");
  // The first one took a second.
  checkWithin(ask(thread, callTo("Echo")).ms, 50, "the next one not at all");
  std::atomic<bool> isDropped{false};
  const auto poll = [&] {
    thread.post([&](BusLoop& loop) { isDropped = loop.systemBus().reason().find("no answer") == 0; });
    return isDropped.load();
  };
  check(comesTrue(poll, 6000), "the connection is given up");
}

void findsItsWayBack() {
  std::atomic<int> ready{0};
  std::atomic<int> lost{0};
  std::atomic<int> signals{0};
  auto bus = std::make_unique<fake::Bus>(socketPath("b"), answerOf);
  BusThread thread(onlySystem("b"));
  thread.post([&](BusLoop& loop) {
    auto& system = loop.systemBus();
    system.addMatch("type='signal',member='Changed'", [&](Signal& signal) {
      if (signal.member == "Changed" && signal.sender == ":1.99" && signal.body.text(9) == "x") ++signals;
    });
    // The questions of a subscriber after a reconnect must come after its subscription.
    system.watch(
        [&, sys = &system] { sys->call(callTo("Sync"), milliseconds{500}, [&](Reply&) { ++ready; }); },
        [&](const std::string&) { ++lost; });
  });
  check(comesTrue([&] { return ready == 1; }), "told when it is ready");
  long worst = 0;
  for (int i = 0; i < 3; ++i) {
    bus.reset();
    check(comesTrue([&] { return lost == i + 1; }), "told when it is lost");
    std::this_thread::sleep_for(milliseconds{300});
    bus = std::make_unique<fake::Bus>(socketPath("b"), answerOf);
    const auto restarted = Clock::now();
    check(comesTrue([&] { return ready == i + 2; }), "back after a loss");
    worst = std::max(worst, elapsedMs(restarted));
    check(bus->count("AddMatch") == 1, "subscribed again, once");
    bus->emit({"Changed"}, textBody("x"));
    check(comesTrue([&] { return signals == i + 1; }), "signals come again");
  }
  checkWithin(worst, 2000, "back within two seconds");
  std::printf("worst way back %ld ms\n", worst);
}

// Reads any message with readers that do not fit it.
void readAtRandom(std::mt19937& random, BodyReader& body, int depth) {
  for (std::size_t i = 0, count = random() % 6; i < count; ++i) {
    const auto inside = [&] {
      if (depth > 0) readAtRandom(random, body, depth - 1);
    };
    switch (random() % 8) {
      case 0: body.text(random() % 300); break;
      case 1: body.number(); break;
      case 2: body.boolean(); break;
      case 3: body.array(random() % 3, inside); break;
      case 4: body.variant(inside); break;
      case 5: body.structure(inside); break;
      case 6: body.dictionary(random() % 5, [&](std::string_view) { inside(); }); break;
      default: body.skip();
    }
  }
}

void survivesAnyBody(int count) {
  std::mt19937 random(7);
  std::mt19937 bodies(11);
  std::mutex mutex;
  fake::Bus bus(socketPath("h"), [&](const fake::Call&) -> fake::Answer {
    const std::lock_guard lock(mutex);
    return {fake::Answer::Kind::body, fake::randomBody(bodies, fake::randomSignature(bodies, 4)), ""};
  });
  BusThread thread(onlySystem("h"));
  std::atomic<int> ended{0};
  std::atomic<int> answered{0};
  std::atomic<int> lefts{0};
  for (int i = 0; i < count; ++i) {
    while (i - ended > 200) std::this_thread::sleep_for(milliseconds{1});
    thread.post([&](BusLoop& loop) {
      loop.systemBus().call(callTo("Any"), milliseconds{5000}, [&](Reply& reply) {
        if (reply.end == CallEnd::kAnswered) ++answered;
        readAtRandom(random, reply.body, 4);
        for (int n = 0; n < 10 && reply.body.skip(); ++n) {
        }
        // Wherever the reading stopped, the rest can be skipped.
        if (reply.end == CallEnd::kAnswered && reply.body.peek() != 0) ++lefts;
        ++ended;
      });
    });
  }
  check(comesTrue([&] { return ended == count; }, 10'000), "each call ends");
  check(answered == count, "each body was taken for one: " + std::to_string(answered));
  check(lefts == 0, "each was read to its end");
}

void oneBusDoesNotHoldUpTheOther() {
  fake::Bus loud(socketPath("l"), answerOf);
  fake::Bus calm(socketPath("c"), answerOf);
  BusThread thread({{addressOfSocket(socketPath("c")), ""}, {addressOfSocket(socketPath("l")), ""}});
  std::atomic<int> heard{0};
  thread.post(
      [&](BusLoop& loop) { loop.sessionBus().addMatch("member='Noise'", [&](Signal&) { ++heard; }); });
  check(comesTrue([&] { return loud.count("AddMatch") == 1; }), "subscribed");
  ask(thread, callTo("Echo"));
  loud.emit({"Noise"}, textBody("x"), 30'000);
  long worst = 0;
  while (heard < 25'000 && failures == 0) worst = std::max(worst, ask(thread, callTo("Echo")).ms);
  check(comesTrue([&] { return heard == 30'000; }), "nothing is lost");
  checkWithin(worst, 100, "calls on the other bus meanwhile");
  std::printf("worst call beside a flood %ld ms\n", worst);
}

void endsOnceAndWithoutLeaks(int rounds) {
  std::atomic<int> ended{0};
  int asked = 0;
  int files = 0;
  BusThread thread(onlySystem("k"));
  for (int round = 0; round < rounds; ++round) {
    fake::Bus bus(socketPath("k"), answerOf);
    check(comesTrue([&] { return ask(thread, callTo("Echo")).end == CallEnd::kAnswered; }), "there");
    if (round == 2) files = openFiles();
    for (int i = 0; i < 50; ++i, ++asked)
      send(thread, callTo("Never"), milliseconds{10'000}, [&](End end) {
        if (end.end == CallEnd::kLost) ++ended;
      });
    check(comesTrue([&] { return bus.count("Never") == 50; }), "under way");
  }
  check(comesTrue([&] { return ended == asked; }), "each ended once, as lost: " + std::to_string(ended));
  fake::Bus bus(socketPath("k"), answerOf);
  check(comesTrue([&] { return ask(thread, callTo("Echo")).end == CallEnd::kAnswered; }), "there");
  check(openFiles() == files, "no descriptor more than before");
}

void manyThreadsThenTheEnd() {
  fake::Bus bus(socketPath("t"), answerOf);
  auto thread = std::make_unique<BusThread>(onlySystem("t"));
  std::atomic<int> ended{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i)
    askers.emplace_back([&, i] {
      for (int n = 0; n < 300; ++n)
        send(*thread, callTo(n % 3 == i % 3 ? "Never" : "Echo"), milliseconds{20'000}, [&](End) { ++ended; });
    });
  std::this_thread::sleep_for(milliseconds{20});
  const auto started = Clock::now();
  thread->stop();
  checkWithin(elapsedMs(started), 100, "stopped");
  for (std::thread& asker : askers) asker.join();
  check(ended == 1200, "each call ended once, whether sent before or after: " + std::to_string(ended));
  check(ask(*thread, callTo("Echo")).errorText == "not posted", "nothing is taken any more");
  thread.reset();
  check(ended == 1200, "and none twice");
}

void choosesAddresses() {
  const auto with = [](const char* name, const char* value) {
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    return busAddressesOfEnvironment();
  };
  unsetenv("XDG_RUNTIME_DIR");
  with("DBUS_SYSTEM_BUS_ADDRESS", nullptr);
  check(with("DBUS_SESSION_BUS_ADDRESS", nullptr).system.text == "unix:path=/run/dbus/system_bus_socket",
        "default");
  check(with("XDG_RUNTIME_DIR", "").session.text.empty(), "no session bus");
  check(with("XDG_RUNTIME_DIR", "/run/a b").session.text == "unix:path=/run/a%20b/bus",
        "the runtime folder's");
  check(with("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x").session.text == "unix:path=/x", "as it is");
  for (const char* bad :
       {"", "unixexec:path=/bin/true", "unix:path=/x;unixexec:path=/bin/true", "autolaunch:", "x"})
    check(with("DBUS_SYSTEM_BUS_ADDRESS", bad).system.text.empty() &&
              !busAddressesOfEnvironment().system.reason.empty(),
          std::string("set, and nothing in its place: ") + bad);
  with("DBUS_SYSTEM_BUS_ADDRESS", nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const bool isPatient = argc > 1 && std::string_view(argv[1]) == "patient";
  if (isPatient) patience = 10;
  char name[] = "/tmp/hostwire-bus-XXXXXX";
  folder = mkdtemp(name);
  if (sdbus::findLibrary() == nullptr) {
    std::printf("no library\n");
    return 77;
  }
  choosesAddresses();
  answersAndFails();
  takesNoDescriptors();
  failsAtOnceWithoutBus();
  findsItsWayBack();
  survivesAnyBody(isPatient ? 5000 : 20'000);
  oneBusDoesNotHoldUpTheOther();
  endsOnceAndWithoutLeaks(5);
  manyThreadsThenTheEnd();
  doesNotWaitForAMuteBus();
  rmdir(folder.c_str());
  return failures == 0 ? 0 : 1;
}
