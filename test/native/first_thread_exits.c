// A process whose first thread exits while another runs, with 32 MiB of memory in use. The test of
// native/system/first-thread reads it. It exits on its own after four minutes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* run(void* memory) {
  sleep(240);
  free(memory);
  exit(0);
}

int main(void) {
  const size_t size = 32U << 20U;
  char* memory = malloc(size);
  if (memory == NULL) return 1;
  memset(memory, 1, size);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, memory) != 0) return 1;
  puts("on");
  fflush(stdout);
  pthread_exit(NULL);
}
