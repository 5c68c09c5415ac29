/*
 * Preloaded into a Node process: what the kernel may be slow to answer is never answered to any thread but
 * the main one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static void hang(void) {
  if (gettid() == getpid()) return;
  for (;;) pause();
}

EXPORT int getifaddrs(struct ifaddrs** found) {
  int (*real)(struct ifaddrs**) = (int (*)(struct ifaddrs**))dlsym(RTLD_NEXT, "getifaddrs");
  hang();
  return real ? real(found) : -1;
}

EXPORT int getsockopt(int fd, int level, int name, void* restrict value, socklen_t* restrict length) {
  typedef int (*function)(int, int, int, void*, socklen_t*);
  function real = (function)dlsym(RTLD_NEXT, "getsockopt");
  hang();
  return real ? real(fd, level, name, value, length) : -1;
}
