// Every reader of the machine, with memory that runs out at one allocation after the other: none may crash,
// leak, hang or throw anything but its documented error.
//   starved_readers FIXTURE SPARSE [NVML]
// FIXTURE has proc/ and sys/. Of the allocations of a reader each one fails; with SPARSE above 0, later ones
// in steps of their number divided by it. Compiled and run under sanitizers by scripts/starve.mjs.
#include <dirent.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/failing_new.h"
#include "host/ask_within.h"
#include "host/batteries.h"
#include "host/cpu.h"
#include "host/disks.h"
#include "host/drives.h"
#include "host/error.h"
#include "host/gpu.h"
#include "host/memory.h"
#include "host/metrics.h"
#include "host/network.h"
#include "host/prober.h"
#include "host/prober_state.h"
#include "host/process.h"
#include "host/resource_limits.h"
#include "host/sensors.h"
#include "host/system.h"
#include "host/wake.h"

namespace {

using hostwire::ProberPool;
using hostwire::Roots;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3;
constexpr std::chrono::seconds kPatience{10};

[[noreturn]] void fail(const std::string& what) {
  std::printf("failed: %s\n", what.c_str());
  std::exit(1);
}

// A reading may fail for want of memory, or with the reason why the system could not be asked.
template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const std::bad_alloc&) {
    // as it may
  } catch (const hostwire::HostError&) {
    // an open that the C library could not do without memory
  } catch (const hostwire::ProbeError&) {
    // a prober's search that had no memory
  }
}

bool isIdle(const ProberPool::State& state) {
  const std::lock_guard lock(state.mutex);
  if (state.roundAt || !state.queue.empty()) return false;
  for (const auto& task : state.tasks)
    if (task->phase != hostwire::ProbeTask::Phase::kIdle) return false;
  return true;
}

// Waits until the probers have asked every wanted question. Allocates nothing: memory may fail.
void settle(ProberPool& pool) {
  const auto state = pool.state();
  const auto end = Clock::now() + kPatience;
  do {
    attempt([&] { pool.askAll(milliseconds{0}); });  // once more where no thread could be started
    for (int look = 0; look < 20 && !isIdle(*state); ++look) std::this_thread::sleep_for(milliseconds{1});
    if (Clock::now() > end) fail("probers that do not come to rest");
  } while (!isIdle(*state));
}

int countThreads() {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  closedir(folder);
  return count;
}

// The threads of a pool that is gone exit on their own; their memory would look like a leak until then.
void waitForThreads() {
  const auto end = Clock::now() + kPatience;
  while (countThreads() > 1) {
    if (Clock::now() > end) fail("threads that do not end");
    std::this_thread::sleep_for(milliseconds{1});
  }
}

// A reader of type T, made by `make` and asked three times, with its probers' answers in between.
template <class Make, class Read>
void askProbed(const Make& make, const Read& read) {
  attempt([&] {
    ProberPool pool;
    auto reader = make(pool);
    for (int round = 0; round < kRounds; ++round) {
      attempt([&] { read(*reader); });
      settle(pool);
    }
  });
}

template <class Reader>
std::function<void()> probed(const Roots& roots) {
  return [roots] {
    askProbed([&](ProberPool& pool) { return std::make_unique<Reader>(roots, pool); },
              [](Reader& reader) {
                if constexpr (requires { reader.read(true); }) {
                  reader.read(true);
                } else {
                  reader.read();
                }
              });
  };
}

// The second reading is one of kept files and of a reader whose first one may have failed.
void readMetrics(const Roots& roots) {
  attempt([&] {
    hostwire::MetricsReader reader(roots);
    for (int round = 0; round < 2; ++round) attempt([&] { reader.read(); });
  });
}

void readWake(const Roots& roots) {
  attempt([&] { hostwire::readWakeOnLan(roots); });
  attempt([] { hostwire::readBroadcastAddresses(); });
}

bool isEachCardAsked() {
  for (const auto& card : hostwire::readWakeOnLan({}))
    if (card.failure && card.failure->find("did not answer within") != std::string::npos) return false;
  return true;
}

struct Case {
  const char* name;
  std::function<void()> run;
  // Must be true again afterwards where it was before.
  std::function<bool()> isWell = [] { return true; };
};

std::vector<Case> casesOf(const Roots& roots, const std::string& nvml) {
  hostwire::GpuOptions gpuOptions;
  gpuOptions.nvmlLibrary = nvml;
  gpuOptions.retryDelay = milliseconds{1};
  gpuOptions.discoveryInterval = milliseconds{1};
  return {
      {"cpu", probed<hostwire::CpuReader>(roots)},
      {"memory", [roots] { attempt([&] { hostwire::MemoryReader(roots).read(true); }); }},
      {"gpu",
       [roots, gpuOptions] {
         askProbed(
             [&](ProberPool& pool) { return std::make_unique<hostwire::GpuReader>(roots, gpuOptions, pool); },
             [](hostwire::GpuReader& reader) {
               reader.read(true);
               reader.describe();
             });
       }},
      {"disks", probed<hostwire::DisksReader>(roots)},
      {"drives", probed<hostwire::DrivesReader>(roots)},
      {"network", probed<hostwire::NetworkReader>(roots)},
      {"sensors", probed<hostwire::SensorsReader>(roots)},
      {"batteries", probed<hostwire::BatteriesReader>(roots)},
      {"limits", probed<hostwire::LimitsReader>(roots)},
      {"system", [roots] { attempt([&] { hostwire::readSystem(roots); }); }},
      {"metrics", [roots] { readMetrics(roots); }},
      // Interfaces are asked for at the kernel, and cards at their drivers, on a real machine only.
      {"metrics of this machine", [] { readMetrics({}); }},
      {"wake", [roots] { readWake(roots); }},
      {"wake of this machine", [] { readWake({}); }, isEachCardAsked},
      {"processes",
       [roots] {
         attempt([&] {
           const hostwire::ProcessReader reader(roots);
           const auto reading = hostwire::ProcessReader::read(*reader.state(), true);
           std::vector<hostwire::ProcessId> ids;
           for (const auto& process : reading.processes) ids.push_back(process.id);
           hostwire::ProcessReader::readPaths(*reader.state(), ids);
           if (!ids.empty()) hostwire::ProcessReader::readDetails(*reader.state(), ids.front().pid);
         });
       }},
  };
}

// How often an allocation failed.
std::size_t starve(const Case& each, std::uint64_t sparse) {
  const bool wasWell = each.isWell();
  each.run();  // what is made once for the whole process is made
  std::size_t failures = 0;
  for (std::uint64_t nth = 1;; nth += 1 + (sparse == 0 ? 0 : nth / sparse)) {
    hostwire::failAllocation(nth);
    each.run();
    waitForThreads();
    const bool hasFailed = hostwire::stopFailing();
    if (hostwire::hangingCount != 0) fail("questions that are counted as hanging and are not");
    if (!hasFailed) break;
    ++failures;
  }
  for (const auto end = Clock::now() + kPatience; wasWell && !each.isWell();)
    if (Clock::now() > end) fail(std::string(each.name) + " does not recover");
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: starved_readers FIXTURE SPARSE [NVML]\n");
    return 2;
  }
  const std::string root = argv[1];
  const Roots roots{root + "/proc", root + "/sys", root};
  const std::uint64_t sparse = std::strtoul(argv[2], nullptr, 10);
  std::size_t all = 0;
  for (const Case& each : casesOf(roots, argc > 3 ? argv[3] : root + "/no-such-library")) {
    const auto began = Clock::now();
    const std::size_t failures = starve(each, sparse);
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - began).count();
    std::printf("%s: %zu allocations failed in %lld ms\n", each.name, failures, static_cast<long long>(took));
    all += failures;
  }
  std::printf("%zu allocations of readers failed\n", all);
  return 0;
}
