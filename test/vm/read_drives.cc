// Reads the drives of the machine it runs on until each has answered, and prints a line of JSON for each.
//   read_drives [UID GID CAPABILITIES]   (as another user, in one more group, with a mask of capabilities)
//   read_drives SECONDS                  (prints nothing: asks again and again)
// Linked statically: test/vm/drives-proof.ts runs it in a machine that has nothing else.
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "host/drives.h"
#include "host/prober.h"

namespace {

using hostwire::DriveCounters;

constexpr int kMaxRounds = 200;

std::string text(const std::optional<bool>& value) { return !value ? "null" : *value ? "true" : "false"; }
template <class Number>
std::string text(const std::optional<Number>& value) {
  return value ? std::to_string(static_cast<long long>(*value)) : "null";
}

const char* kindOf(const DriveCounters& drive) {
  switch (drive.kind) {
    case hostwire::DriveKind::kNvme: return "nvme";
    case hostwire::DriveKind::kAta: return "ata";
    case hostwire::DriveKind::kScsi: return "scsi";
    default: return "other";
  }
}

// Names, models and reasons here hold neither quotes nor backslashes.
void print(const DriveCounters& drive) {
  std::string health = "null";
  if (drive.health) {
    const auto& values = *drive.health;
    health = "{\"isPassing\":" + text(values.isPassing) +
             ",\"percentageUsed\":" + text(values.percentageUsed) +
             ",\"powerOnHours\":" + text(values.powerOnHours) +
             ",\"temperatureCelsius\":" + text(values.temperatureCelsius) +
             ",\"mediaErrors\":" + text(values.mediaErrors) + "}";
  }
  std::printf("{\"name\":\"%s\",\"kind\":\"%s\",\"model\":\"%s\",\"health\":%s,\"failure\":\"%s\"}\n",
              drive.name.c_str(), kindOf(drive), drive.model.c_str(), health.c_str(), drive.failure.c_str());
}

bool isAnswered(const DriveCounters& drive) {
  return drive.health.has_value() || drive.failure != "no answer";
}

void pause(hostwire::ProberPool& pool) {
  pool.askAll(std::chrono::milliseconds{0});
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
}

int readOnce(hostwire::DrivesReader& reader, hostwire::ProberPool& pool) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto drives = reader.read();
    bool isReady = !drives.empty();
    for (const DriveCounters& drive : drives) isReady = isReady && isAnswered(drive);
    if (isReady) {
      for (const DriveCounters& drive : drives) print(drive);
      return 0;
    }
    pause(pool);
  }
  std::fprintf(stderr, "a drive has not answered\n");
  return 1;
}

// Asks over and over, far more often than the service does; how often each drive is asked is seen from
// outside.
int watch(hostwire::DrivesReader& reader, hostwire::ProberPool& pool, int seconds) {
  for (int round = 0; round < seconds * 20; ++round) {
    static_cast<void>(reader.read());
    pause(pool);
  }
  return 0;
}

bool becomeUser(char** arguments) {
  const auto user = static_cast<uid_t>(std::atoi(arguments[0]));
  const auto group = static_cast<gid_t>(std::atoi(arguments[1]));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto mask = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 16));
  const __user_cap_data_struct kept[2] = {{mask, mask, 0}, {0, 0, 0}};
  return prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(1, &group) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0 && syscall(SYS_capset, &header, &kept) == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && !becomeUser(arguments + 1)) {
    std::perror("read_drives");
    return 2;
  }
  hostwire::ProberPool pool;
  if (count == 2) {
    using std::chrono::milliseconds;
    hostwire::DrivesReader reader({}, pool, {milliseconds{100}, milliseconds{200}, milliseconds{1000}});
    return watch(reader, pool, std::atoi(arguments[1]));
  }
  hostwire::DrivesReader reader({}, pool);
  return readOnce(reader, pool);
}
