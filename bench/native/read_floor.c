// The floor of a sample: reads the same kernel files at the same rate, and does nothing else.
//   read_floor {read PATH | statvfs PATH}…
// Each line `COUNT INTERVAL_NS` on standard input runs COUNT rounds on absolute deadlines (interval 0: back
// to back) and answers with the CPU time of the whole process in nanoseconds.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { kMaxSteps = 256, kSecondNs = 1000000000 };

struct step {
  const char* path;
  int fd;  // -1: call statvfs
};

static struct step steps[kMaxSteps];
static int stepCount;
// Larger than any of the files, so that one pread reads the whole text if the kernel returns it in one call.
static char text[1 << 20];

static int64_t readClock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * kSecondNs + now.tv_nsec;
}

static void addStep(const char* kind, const char* path) {
  struct step* step = &steps[stepCount++];
  step->path = path;
  step->fd = -1;
  if (strcmp(kind, "statvfs") == 0) return;
  step->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (step->fd >= 0) return;
  perror(path);
  exit(1);
}

// The clocks that a sample reads: monotonic time, time since boot, wall time.
static int64_t doRound(void) {
  int64_t sum = readClock(CLOCK_MONOTONIC) + readClock(CLOCK_BOOTTIME) + readClock(CLOCK_REALTIME);
  for (int i = 0; i < stepCount; i++) {
    struct statvfs usage;
    if (steps[i].fd >= 0)
      sum += pread(steps[i].fd, text, sizeof text, 0);
    else
      sum += statvfs(steps[i].path, &usage);
  }
  return sum;
}

static void sleepUntil(int64_t deadlineNs) {
  const struct timespec deadline = {deadlineNs / kSecondNs, deadlineNs % kSecondNs};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) != 0) continue;
}

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc && stepCount < kMaxSteps; i += 2) addStep(argv[i], argv[i + 1]);
  volatile int64_t sum = 0;
  long count;
  long long intervalNs;
  while (scanf("%ld %lld", &count, &intervalNs) == 2) {
    const int64_t before = readClock(CLOCK_PROCESS_CPUTIME_ID);
    int64_t deadlineNs = readClock(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++) {
      deadlineNs += intervalNs;
      if (intervalNs > 0) sleepUntil(deadlineNs);
      sum += doRound();
    }
    printf("%lld\n", (long long)(readClock(CLOCK_PROCESS_CPUTIME_ID) - before));
    fflush(stdout);
  }
  return 0;
}
