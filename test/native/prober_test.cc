// The promises of probers, checked on real threads. Prints each failed check and exits 1 if there was one.
// Compiled and run, also under sanitizers, by prober.test.ts.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/prober_state.h"

namespace {

using hostwire::Prober;
using hostwire::ProberPool;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::atomic<int> failures{0};

void check(bool isTrue, const std::string& what) {
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

long elapsedMs(Clock::time_point since) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - since).count();
}

int threadsAlive() {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  closedir(folder);
  return count;
}

// A question waits here while it is closed, as at a mount whose server is gone.
class Gate {
 public:
  explicit Gate(bool isOpen) : isOpen_(isOpen) {}
  void set(bool isOpen) {
    const std::lock_guard lock(mutex_);
    isOpen_ = isOpen;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return isOpen_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOpen_;
};

// A question behind a gate that counts how often it was asked, and by which thread last.
struct Question {
  explicit Question(bool isOpen) : gate(isOpen) {}
  Gate gate;
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  std::atomic<int> takesMs{0};
  std::atomic<std::size_t> thread{0};
};

struct Subject {
  Subject(ProberPool& pool, bool isOpen)
      : question(std::make_shared<Question>(isOpen)), prober(pool, [q = question] {
          ++q->asked;
          q->thread = std::hash<std::thread::id>{}(std::this_thread::get_id());
          q->gate.pass();
          std::this_thread::sleep_for(milliseconds{q->takesMs});
          return ++q->answered;
        }) {}
  std::shared_ptr<Question> question;
  Prober<int> prober;
};

std::vector<Subject> makeSubjects(ProberPool& pool, int count, bool isOpen) {
  std::vector<Subject> subjects;
  for (int i = 0; i < count; ++i) subjects.emplace_back(pool, isOpen);
  return subjects;
}

constexpr milliseconds kTick{100};

// One tick of a service: consult everything, have it asked again, wait until the next.
void tick(ProberPool& pool, std::initializer_list<const std::vector<Subject>*> groups) {
  for (const auto* group : groups)
    for (const Subject& subject : *group) static_cast<void>(subject.prober.latest());
  pool.askAll(milliseconds{0});
  std::this_thread::sleep_for(kTick);
}

// Under a sanitizer, on a busy machine, threads may wait long for a processor: there the same must become
// true, but later, and counts may be higher.
int patienceFactor = 1;
int waitFactor = 1;

template <class Condition>
bool comesTrue(ProberPool& pool, std::initializer_list<const std::vector<Subject>*> groups, int ticks,
               Condition condition) {
  for (int i = 0; i < ticks; ++i) tick(pool, groups);
  for (int i = 0; i < ticks * (waitFactor - 1) && !condition(); ++i) tick(pool, groups);
  return condition();
}

int countStale(const std::vector<Subject>& subjects) {
  int count = 0;
  for (const Subject& subject : subjects) count += subject.prober.latest().isStale ? 1 : 0;
  return count;
}

constexpr milliseconds kFresh{250};

bool areFresh(const std::vector<Subject>& subjects) {
  for (const Subject& subject : subjects) {
    const auto answer = subject.prober.latest();
    if (!answer.value || answer.isStale || answer.age > kFresh * (waitFactor > 1 ? 4 : 1)) return false;
  }
  return true;
}

void openAll(const std::vector<Subject>& subjects, bool isOpen) {
  for (const Subject& subject : subjects) subject.question->gate.set(isOpen);
}

void waitUntilFree(const ProberPool& pool) {
  const auto started = Clock::now();
  while (pool.stuckCount() > 0 && elapsedMs(started) < 2000) std::this_thread::sleep_for(milliseconds{5});
}

bool areOnOneThread(const std::vector<Subject>& subjects) {
  const auto isWithFirst = [&](const Subject& subject) {
    return subject.question->thread == subjects[0].question->thread;
  };
  return std::all_of(subjects.begin(), subjects.end(), isWithFirst);
}

// A question that was late once, if only for want of a processor, is asked on threads of its own for as long.
constexpr int kRoundsToTrust = 16;

// Under a sanitizer a thread that waits 50 ms for a processor counts as hung: what each round does is checked
// without one.
void asksInTurnOnOneThread() {
  std::thread([] {}).join();  // a sanitizer starts its own thread with the first one
  const int before = threadsAlive();
  ProberPool pool;
  const auto subjects = makeSubjects(pool, 5, true);
  check(threadsAlive() == before, "no thread before the first question");
  check(!subjects[0].prober.latest().value.has_value(), "no answer before the first round");
  check(!subjects[0].prober.latest().isStale, "not asked is not stale");
  for (int i = 0; i < 4; ++i) tick(pool, {&subjects});
  const auto areTogether = [&] {
    return areFresh(subjects) && areOnOneThread(subjects) && threadsAlive() == before + 1;
  };
  if (patienceFactor > 1) {
    check(comesTrue(pool, {&subjects}, kRoundsToTrust, areTogether), "one thread serves all in the end");
    return;
  }
  check(areFresh(subjects), "healthy questions are fresh");
  for (const Subject& subject : subjects) check(subject.question->asked == 4, "asked once a round");
  check(areOnOneThread(subjects), "all on the serving thread");
  check(threadsAlive() == before + 1, "one thread serves all");
  pool.askAll(milliseconds{0});
  std::this_thread::sleep_for(kTick);
  const int asked = subjects[1].question->asked;
  static_cast<void>(subjects[0].prober.latest());
  pool.askAll(milliseconds{0});
  std::this_thread::sleep_for(kTick);
  check(subjects[0].question->asked == asked + 1, "the consulted one was asked");
  check(subjects[1].question->asked == asked, "one that was not consulted was left alone");
  static_cast<void>(subjects[0].prober.latest());
  pool.askAll(milliseconds{150});
  std::this_thread::sleep_for(milliseconds{75});
  check(subjects[0].question->asked == asked + 1, "a round waits for its delay");
  std::this_thread::sleep_for(milliseconds{150});
  check(subjects[0].question->asked == asked + 2, "and then begins");
}

// How often a thread of this process has gone to sleep.
long sleepsOf(long thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  const std::string key = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key, 0) == 0) return std::stol(line.substr(key.size()));
  return -1;
}

void wakesOnceARound() {
  ProberPool pool;
  const auto thread = std::make_shared<std::atomic<long>>(0);
  const Prober<int> prober(pool, [thread] { return static_cast<int>(*thread = gettid()); });
  const auto round = [&] {
    static_cast<void>(prober.latest());
    pool.askAll(milliseconds{50});
    std::this_thread::sleep_for(kTick);
  };
  for (int i = 0; i < 4; ++i) round();
  // A count is of one thread: if the question was moved to another one in between, it is taken once more.
  long serving = 0;
  long before = -1;
  long sleeps = -1;
  for (int attempt = 0; attempt < 2 * patienceFactor && (before < 0 || serving != *thread); ++attempt) {
    for (int i = 0; i < kRoundsToTrust && attempt > 0; ++i) round();
    serving = *thread;
    before = sleepsOf(serving);
    for (int i = 0; i < 20; ++i) round();
    sleeps = sleepsOf(serving) - before;
  }
  std::printf("%ld wake-ups in 20 rounds\n", sleeps);
  check(before >= 0 && serving == *thread, "one thread serves 20 rounds");
  check(sleeps >= 10 && sleeps <= 30 * patienceFactor, "about one wake-up a round");
  std::this_thread::sleep_for(2 * kTick);
  const long resting = sleepsOf(*thread);
  std::this_thread::sleep_for(5 * kTick);
  check(sleepsOf(*thread) == resting, "none when nobody asks");
}

void knowsWhatWasNeverAnswered() {
  ProberPool pool;
  const auto hung = makeSubjects(pool, 1, false);
  const Prober<int> broken(pool, []() -> int { throw std::runtime_error("no such sensor"); });
  check(!pool.awaitsFirstAnswers(), "what nobody has consulted is not awaited");
  static_cast<void>(broken.latest());
  check(pool.awaitsFirstAnswers(), "what was consulted is, before it is asked");
  check(comesTrue(pool, {}, 1, [&] { return !pool.awaitsFirstAnswers(); }), "an error is an answer");
  check(comesTrue(pool, {&hung}, 1, [&] { return pool.stuckCount() == 1; }), "one is stuck");
  check(pool.awaitsFirstAnswers(), "and awaited while it is");
  openAll(hung, true);
  check(comesTrue(pool, {&hung}, 1, [&] { return !pool.awaitsFirstAnswers(); }), "until it has answered");
  openAll(hung, false);
  tick(pool, {&hung});
  check(!pool.awaitsFirstAnswers(), "its first answer was not the one that it is stuck in now");
  openAll(hung, true);
  waitUntilFree(pool);
}

void reportsErrors() {
  ProberPool pool;
  auto isBroken = std::make_shared<std::atomic<bool>>(true);
  const Prober<int> prober(pool, [isBroken] {
    if (*isBroken) throw std::runtime_error("no such sensor");
    return 7;
  });
  // One round; under a sanitizer, as many as it takes.
  const auto ask = [&] {
    const auto isThere = [&] {
      const auto answer = prober.latest();
      return *isBroken ? !answer.error.empty() : answer.value.has_value();
    };
    for (int i = 0; i == 0 || (i < waitFactor && !isThere()); ++i) {
      static_cast<void>(prober.latest());
      pool.askAll(milliseconds{0});
      std::this_thread::sleep_for(milliseconds{60});
    }
    return prober.latest();
  };
  auto answer = ask();
  check(!answer.value && answer.error == "no such sensor" && !answer.isStale, "an error is told");
  *isBroken = false;
  answer = ask();
  check(answer.value == 7 && answer.error.empty(), "and forgotten after an answer");
  *isBroken = true;
  answer = ask();
  check(!answer.value && !answer.error.empty(), "an error takes the value away");
}

void sparesTheFresh() {
  ProberPool pool;
  const auto asked = std::make_shared<std::atomic<int>>(0);
  const auto ask = [asked] { return ++*asked; };
  const Prober<int> rare(pool, ask, std::chrono::hours{1});
  const auto ticks = [&](const Prober<int>& prober, int count) {
    for (int round = 0; round < count; ++round) {
      static_cast<void>(prober.latest());
      pool.askAll(milliseconds{0});
      std::this_thread::sleep_for(milliseconds{10});
    }
  };
  while (*asked == 0) ticks(rare, 1);
  ticks(rare, 10);
  check(*asked == 1 && rare.latest().value == 1, "a question is not asked again before its least age");
  const Prober<int> first(pool, [asked, isFirst = std::make_shared<bool>(true)] {
    if (std::exchange(*isFirst, false)) std::this_thread::sleep_for(milliseconds{30});
    return ++*asked;
  }, std::chrono::hours{1});
  while (*asked == 1) ticks(first, 1);
  ticks(first, 10);
  check(*asked == 2, "nor when it was consulted before its first answer");
  const Prober<int> often(pool, ask, milliseconds{1});
  while (*asked < 6) ticks(often, 1);
  check(rare.latest().value == 1, "and again once it is older");
}

// The pool's only question has been asked, and none is under way.
bool isAtRest(ProberPool::State& state) {
  const std::lock_guard lock(state.mutex);
  const auto& task = *state.tasks.front();
  return task.hasFinished && task.phase == hostwire::ProbeTask::Phase::kIdle && state.queue.empty() &&
         !state.roundAt;
}

// Time is moved instead of passing: rounds are requested for later, and the last question is dated back.
void judgesAgesAtTheRound() {
  ProberPool pool;
  const auto state = pool.state();
  const Prober<int> rare(pool, [] { return 1; }, std::chrono::hours{1});
  const auto request = [&](milliseconds delay) {
    static_cast<void>(rare.latest());
    pool.askAll(delay);
  };
  request(milliseconds{0});
  while (!isAtRest(*state)) std::this_thread::sleep_for(milliseconds{1});
  const auto takeRound = [&] {
    const std::lock_guard lock(state->mutex);
    return std::exchange(state->roundAt, std::nullopt).has_value();
  };
  const auto isPlanned = [&](milliseconds delay) {
    request(delay);
    return takeRound();
  };
  check(!isPlanned(std::chrono::minutes{53}), "no round before the least age");
  pool.askAll(std::chrono::hours{2});
  check(!takeRound(), "and none until it is consulted again");
  check(isPlanned(std::chrono::minutes{55}), "one in its last tenth: the last one may have been late");
  check(isPlanned(std::chrono::minutes{90}), "and one after it");
  {
    const std::lock_guard lock(state->mutex);
    state->tasks.front()->askedAt -= std::chrono::hours{1};
  }
  request(milliseconds{0});
  request(milliseconds{0});
  while (!isAtRest(*state)) std::this_thread::sleep_for(milliseconds{1});
  const std::lock_guard lock(state->mutex);
  const auto sleepsFor = state->wakesAt - hostwire::ProbeClock::now();
  check(sleepsFor > std::chrono::minutes{50}, "the thread sleeps until the question is due again");
}

void leavesTheHungBehind(int hungCount, bool didAnswer) {
  const std::string about =
      std::to_string(hungCount) + (didAnswer ? " that hang later: " : " that never answer: ");
  ProberPool pool;
  const auto healthy = makeSubjects(pool, 3, true);
  const auto hung = makeSubjects(pool, hungCount, didAnswer);
  const auto later = makeSubjects(pool, 3, true);
  const auto after = [&](int ticks, auto condition) {
    return comesTrue(pool, {&healthy, &hung, &later}, ticks, condition);
  };
  if (didAnswer) {
    check(after(3, [&] { return areFresh(hung); }), about + "fresh before");
    openAll(hung, false);
  }
  const auto expectedStuck = static_cast<std::size_t>(std::min(hungCount, 64));
  // Probers that were late for want of a processor count as well, and take the serving thread's eight places.
  const std::size_t mostStuck = expectedStuck + (patienceFactor > 1 ? 8 : 0);
  const auto areFound = [&] {
    const std::size_t stuck = pool.stuckCount();
    return stuck >= expectedStuck && stuck <= mostStuck && countStale(hung) == hungCount;
  };
  const bool wereFound = after(5, areFound);
  check(wereFound,
        about + "stuck " + std::to_string(pool.stuckCount()) + ", stale " + std::to_string(countStale(hung)));
  // With 64 threads stuck only subjects known to answer are asked, and those behind them are not known to;
  // nor are, under a sanitizer, those that were late for want of a processor.
  if (hungCount < 64 || patienceFactor == 1)
    check(after(1, [&] { return areFresh(healthy); }), about + "the healthy before them are fresh");
  if (hungCount < 64) check(after(1, [&] { return areFresh(later); }), about + "and those after them");
  for (const Subject& subject : hung) {
    check(subject.prober.latest().value.has_value() == didAnswer, about + "the last value is kept");
    check(subject.question->asked - subject.question->answered <= 1, about + "not asked again while hung");
  }
  check(after(3, areFound), about + "no more threads later");
  openAll(hung, true);
  waitUntilFree(pool);
  check(after(2, [&] { return areFresh(hung); }), about + "fresh within two rounds");
  check(after(1, [&] { return pool.stuckCount() == 0; }), about + "none stuck after");
  check(after(1, [&] { return areFresh(healthy) && areFresh(later); }), about + "the others as before");
}

// Requests that come faster than the thread gets a processor: each reading asks for a round of its own.
void keepsWhatIsDue() {
  ProberPool pool;
  const auto busy = makeSubjects(pool, 1, true);
  busy[0].question->takesMs = 30;
  const auto waiting = makeSubjects(pool, 1, true);
  static_cast<void>(busy[0].prober.latest());
  pool.askAll(milliseconds{0});
  while (busy[0].question->asked == 0) std::this_thread::sleep_for(milliseconds{1});
  static_cast<void>(waiting[0].prober.latest());
  pool.askAll(milliseconds{0});
  std::this_thread::sleep_for(milliseconds{1});
  pool.askAll(std::chrono::minutes{1});
  const auto since = Clock::now();
  while (waiting[0].question->asked == 0 && elapsedMs(since) < 5000)
    std::this_thread::sleep_for(milliseconds{5});
  check(waiting[0].question->asked == 1, "a round that is due is not put off");
}

void findsEightInOneGo() {
  ProberPool pool;
  const auto subjects = makeSubjects(pool, 8, true);
  check(comesTrue(pool, {&subjects}, 3, [&] { return areFresh(subjects); }), "eight fresh");
  openAll(subjects, false);
  tick(pool, {&subjects});  // the serving thread hangs in the first, is left to it at the next tick
  const auto areFound = [&] { return pool.stuckCount() == 8 && countStale(subjects) == 8; };
  check(comesTrue(pool, {&subjects}, 1, areFound), "and its successor finds the other seven at once");
  openAll(subjects, true);
}

long residentKib() {
  long size = 0;
  long resident = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  const int fields =
      std::fscanf(statm, "%ld %ld", &size, &resident);  // NOLINT(cert-err34-c): the kernel's text
  std::fclose(statm);
  return fields == 2 ? resident * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

void costsLittleWhileStuck() {
  ProberPool pool;
  const auto hung = makeSubjects(pool, 64, false);
  const long before = residentKib();
  comesTrue(pool, {&hung}, 4, [&] { return pool.stuckCount() == 64; });
  const double each = static_cast<double>(residentKib() - before) / 64;
  std::printf("%.1f KiB resident a stuck thread\n", each);
  check(patienceFactor > 1 || each < 20, "a stuck thread costs less than 20 KiB");
  openAll(hung, true);
  waitUntilFree(pool);
}

void goesAwayWhileStuck() {
  std::vector<std::shared_ptr<Question>> questions;
  {
    auto pool = std::make_unique<ProberPool>();
    const auto hung = makeSubjects(*pool, 4, false);
    const auto later = makeSubjects(*pool, 1, true);
    for (int i = 0; i < 3; ++i) tick(*pool, {&hung, &later});
    openAll(later, false);
    tick(*pool, {&hung, &later});  // the serving thread is in a question itself
    for (const Subject& subject : hung) questions.push_back(subject.question);
    for (const Subject& subject : later) questions.push_back(subject.question);
    const auto started = Clock::now();
    pool.reset();
    check(elapsedMs(started) < 50L * patienceFactor, "destroying waits for nobody");
    check(hung[0].prober.latest().isStale, "a prober may outlive its pool");
  }
  for (const auto& question : questions) {
    check(question.use_count() > 1, "a stuck thread keeps what it needs");
    question->gate.set(true);
  }
  const auto started = Clock::now();
  const auto isHeld = [](const auto& question) { return question.use_count() > 1; };
  while (std::any_of(questions.begin(), questions.end(), isHeld) && elapsedMs(started) < 2000)
    std::this_thread::sleep_for(milliseconds{5});
  check(std::none_of(questions.begin(), questions.end(), isHeld), "and lets go of it when it may");
}

void bearsTheSlow() {
  ProberPool pool;
  const auto slow = makeSubjects(pool, 3, true);
  const auto quick = makeSubjects(pool, 3, true);
  for (int i = 0; i < 3; ++i) tick(pool, {&slow, &quick});
  int staleSlow = 0;
  int staleQuick = 0;
  for (int i = 0; i < 25; ++i) {
    for (const Subject& subject : slow) subject.question->takesMs = 20 + i * 37 % 80;
    tick(pool, {&slow, &quick});
    staleSlow += countStale(slow);
    staleQuick += areFresh(quick) ? 0 : 1;
  }
  check(staleSlow <= 6 * patienceFactor,
        "slow ones stale at first only: " + std::to_string(staleSlow) + " of 75");
  check(staleQuick <= 1 * patienceFactor, "quick ones not fresh: " + std::to_string(staleQuick) + " of 25");
  check(slow[0].question->answered >= 12, "slow ones are asked on");
  for (const Subject& subject : slow) subject.question->takesMs = 0;
  const auto isServed = [&] { return slow[0].question->thread == quick[0].question->thread; };
  check(comesTrue(pool, {&slow, &quick}, 20, isServed), "quick again: with the serving thread again");
}

void livesThroughThousandsOfRounds() {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same run each time
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  ProberPool pool;
  auto subjects = makeSubjects(pool, 12, true);
  for (int round = 0; round < 2500; ++round) {
    for (Subject& subject : subjects) {
      if (upTo(3) > 0) static_cast<void>(subject.prober.latest());
      if (upTo(400) == 0) subject.question->gate.set(upTo(1) == 0);
      if (upTo(300) == 0) subject = Subject(pool, upTo(3) > 0);
    }
    pool.askAll(milliseconds{upTo(3)});
    if (upTo(20) == 0) pool.askAll(milliseconds{upTo(20)});
    std::this_thread::sleep_for(std::chrono::microseconds{upTo(1500)});
  }
  openAll(subjects, true);
  waitUntilFree(pool);
  check(comesTrue(pool, {&subjects}, 4, [&] { return areFresh(subjects); }),
        "fresh after thousands of rounds");
}

}  // namespace

// With the argument "patient": see patienceFactor.
int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "patient") {
    patienceFactor = 10;
    waitFactor = 40;
  }
  const auto started = Clock::now();
  asksInTurnOnOneThread();  // counts threads, so alone
  costsLittleWhileStuck();
  std::vector<std::thread> scenarios;
  scenarios.emplace_back(wakesOnceARound);
  scenarios.emplace_back(knowsWhatWasNeverAnswered);
  scenarios.emplace_back(reportsErrors);
  scenarios.emplace_back(sparesTheFresh);
  scenarios.emplace_back(judgesAgesAtTheRound);
  for (const bool didAnswer : {false, true})
    for (const int hungCount : {1, 8, 64, 74})
      scenarios.emplace_back([hungCount, didAnswer] { leavesTheHungBehind(hungCount, didAnswer); });
  scenarios.emplace_back(keepsWhatIsDue);
  scenarios.emplace_back(findsEightInOneGo);
  scenarios.emplace_back(goesAwayWhileStuck);
  scenarios.emplace_back(bearsTheSlow);
  scenarios.emplace_back(livesThroughThousandsOfRounds);
  for (std::thread& scenario : scenarios) scenario.join();
  // The process ends although threads are stuck for good: its parent checks that it does.
  ProberPool pool;
  const auto forever = makeSubjects(pool, 2, false);
  tick(pool, {&forever});
  check(pool.stuckCount() == 2, "stuck at the end");
  std::printf("%d failed, %ld ms\n", failures.load(), elapsedMs(started));
  return failures == 0 ? 0 : 1;
}
