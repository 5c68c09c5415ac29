// Real processes that do nothing: `sleepers COUNT SECONDS` starts COUNT of them, says "ready", and ends them
// when its input ends. Each ends after SECONDS, and when this program does.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMaxProcesses = 20000 };

static pid_t children[kMaxProcesses];

static void sleepBounded(pid_t parent, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  alarm(seconds);
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  while (1) pause();
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  const unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
  if (count < 1 || count > kMaxProcesses || seconds < 1 || seconds > 3600) return 2;
  const pid_t self = getpid();
  int started = 0;
  for (; started < count; started++) {
    children[started] = fork();
    if (children[started] == 0) sleepBounded(self, seconds);
    if (children[started] < 0) break;
  }
  alarm(seconds);
  printf(started == count ? "ready\n" : "only %d\n", started);
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  for (int i = 0; i < started; i++) kill(children[i], SIGKILL);
  for (int i = 0; i < started; i++) waitpid(children[i], NULL, 0);
  return 0;
}
