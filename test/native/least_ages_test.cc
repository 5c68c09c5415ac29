// The least ages of the questions that readers ask their probers, on the machine in the folder that is given:
// one line per reader, in milliseconds. It reads until `disks` filesystems are shown, and all sensors.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/cpu.h"
#include "host/disks.h"
#include "host/prober_state.h"
#include "host/sensors.h"

namespace {

using hostwire::ProberPool;
using std::chrono::milliseconds;

void printAges(const char* name, ProberPool& pool) {
  std::vector<long long> ages;
  {
    const auto state = pool.state();
    const std::lock_guard lock(state->mutex);
    for (const auto& task : state->tasks) ages.push_back(task->leastAge.count());
  }
  std::sort(ages.begin(), ages.end());
  std::printf("%s:", name);
  for (const long long age : ages) std::printf(" %lld", age);
  std::printf("\n");
}

// Whether the question with this least age is to be asked again.
bool isWanted(ProberPool& pool, milliseconds leastAge) {
  const auto state = pool.state();
  const std::lock_guard lock(state->mutex);
  return std::any_of(state->tasks.begin(), state->tasks.end(),
                     [&](const auto& task) { return task->leastAge == leastAge && task->isWanted; });
}

void readUntil(ProberPool& pool, const std::function<bool()>& isComplete) {
  while (!isComplete()) {
    pool.askAll(milliseconds{0});
    std::this_thread::sleep_for(milliseconds{5});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: least_ages_test FOLDER DISKS\n");
    return 2;
  }
  const std::string root = argv[1];
  const std::size_t disks = std::strtoul(argv[2], nullptr, 10);
  const hostwire::Roots roots{root + "/proc", root + "/sys", root};
  {
    ProberPool pool;
    hostwire::CpuReader reader(roots, pool);
    printAges("cpu", pool);
    readUntil(pool, [&] {
      reader.read(false);
      return !isWanted(pool, milliseconds{1000});
    });
    std::printf("no sensor: not asked again\n");
  }
  {
    ProberPool pool;
    hostwire::DisksReader reader(roots, pool);
    readUntil(pool, [&] { return reader.read(false).size() == disks; });
    printAges("disks", pool);
  }
  {
    ProberPool pool;
    hostwire::SensorsReader reader(roots, pool);
    readUntil(pool, [&] { return !reader.read().empty(); });
    printAges("sensors", pool);
  }
  return 0;
}
