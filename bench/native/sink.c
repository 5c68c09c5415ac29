// Holds many subscribers of one event stream, or of the stats of /api/ws, over epoll and checks the events of
// each: whole events only, none twice. Reads commands from standard input, one per line, and answers each
// with a line of JSON.
//   open N       opens subscribers until there are N, and waits until each has had its first event
//   stall K      the first K subscribers stop reading; stall 0 lets all of them read again
//   window S     counts for S seconds and reports
//   close N      closes the last subscribers until N are left
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "chunked.h"
#include "frames.h"

enum { BATCH = 512, IN_FLIGHT = 512 };

static int poller, port, receiveBytes;
static struct in_addr host;
static char path[512], request[1024];
static unsigned source;
static int stalled;
static bool isSocket;

static void lose(struct Subscriber* s) {
  if (!s->isOpen) return;
  if (!s->hasEvent) opening--;
  if (s->state == (isSocket ? CLOSED : ENDED))
    ended++;
  else
    lost++;
  if (s->at != 0) rest++;
  close(s->fd);
  s->isOpen = false;
}

static void readSome(struct Subscriber* s) {
  static char buffer[256 * 1024];
  const ssize_t got = recv(s->fd, buffer, sizeof buffer, 0);
  if (got > 0) {
    bytes += (uint64_t)got;
    if (isSocket)
      takeFrames(s, buffer, (size_t)got);
    else
      takeChunks(s, buffer, (size_t)got);
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    lose(s);
  }
}

static void turn(int timeoutMs) {
  struct epoll_event ready[BATCH];
  const int count = epoll_wait(poller, ready, BATCH, timeoutMs);
  for (int i = 0; i < count; i++) {
    struct Subscriber* s = &subscribers[ready[i].data.u32];
    if (!s->isOpen) continue;
    if (s->isStalled) {
      if (ready[i].events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) lose(s);
    } else {
      readSome(s);
    }
  }
}

static bool openOne(int index) {
  struct Subscriber* s = &subscribers[index];
  memset(s, 0, sizeof *s);
  s->lastIndex = -1;
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s->fd < 0) return false;
  const int on = 1;
  setsockopt(s->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (receiveBytes > 0) setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &receiveBytes, sizeof receiveBytes);
  // Many loopback addresses, because one has only 28,000 ports.
  struct sockaddr_in local = {.sin_family = AF_INET};
  local.sin_addr.s_addr = htonl(0x7f000100u + (source + (unsigned)index / 4096u) % 60000u);
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  peer.sin_addr = host;
  // For other targets the kernel chooses the address.
  const bool isLoopback = host.s_addr == htonl(INADDR_LOOPBACK);
  if ((isLoopback && bind(s->fd, (struct sockaddr*)&local, sizeof local) != 0) ||
      connect(s->fd, (struct sockaddr*)&peer, sizeof peer) != 0 ||
      send(s->fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
    close(s->fd);
    return false;
  }
  fcntl(s->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = (uint32_t)index};
  epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &event);
  s->isOpen = true;
  opening++;
  return true;
}

static int countOpen(void) {
  int count = 0;
  for (int i = 0; i < size; i++) count += subscribers[i].isOpen;
  return count;
}

static void openUntil(int wanted) {
  int failed = 0;
  const double until = now() + 60e3;
  while (size < wanted && now() < until) {
    if (openOne(size))
      size++;
    else
      failed++, usleep(1000);
    while (opening >= IN_FLIGHT && now() < until) turn(10);
  }
  while (opening > 0 && now() < until) turn(10);
  printf("{\"open\":%d,\"failed\":%d,\"waiting\":%d}\n", countOpen(), failed, opening);
}

static void stall(int count) {
  for (int i = 0; i < size; i++) {
    struct Subscriber* s = &subscribers[i];
    const bool wanted = i < count;
    if (!s->isOpen || s->isStalled == wanted) continue;
    s->isStalled = wanted;
    struct epoll_event event = {.events = EPOLLRDHUP | (wanted ? 0 : EPOLLIN), .data.u32 = (uint32_t)i};
    epoll_ctl(poller, EPOLL_CTL_MOD, s->fd, &event);
  }
  stalled = count;
  printf("{\"stalled\":%d}\n", count);
}

static void closeUntil(int wanted) {
  const struct linger reset = {1, 0};  // no TIME_WAIT: the ports are needed again
  while (size > wanted) {
    struct Subscriber* s = &subscribers[--size];
    if (!s->isOpen) continue;
    setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(s->fd);
    s->isOpen = false;
  }
  source += 8;
  printf("{\"open\":%d}\n", countOpen());
}

static int byValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void window(double seconds) {
  events = bytes = torn = doubled = missed = backwards = alone = lost = ended = comments = rest = 0;
  ticks = 0;
  tickBegan = 0;
  firstKnown = nextKnown;
  for (int i = 0; i < size; i++) {
    subscribers[i].events = 0;
    subscribers[i].lastIndex = -1;
  }
  const double until = now() + seconds * 1e3;
  for (double left; (left = until - now()) > 0;) turn(left > 50 ? 50 : (int)left + 1);
  endTick();
  settle();
  uint32_t fewest = UINT32_MAX, most = 0;
  for (int i = 0; i < size; i++) {
    const struct Subscriber* s = &subscribers[i];
    if (!s->isOpen || s->isStalled) continue;
    if (s->events < fewest) fewest = s->events;
    if (s->events > most) most = s->events;
  }
  qsort(spreads, (size_t)ticks, sizeof *spreads, byValue);
  const struct {
    const char* name;
    uint64_t value;
  } counts[] = {{"events", events}, {"bytes", bytes},         {"torn", torn},    {"doubled", doubled},
                {"missed", missed}, {"backwards", backwards}, {"alone", alone},  {"lost", lost},
                {"ended", ended},   {"comments", comments},   {"cutShort", rest}};
  printf("{\"open\":%d,", countOpen());
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    printf("\"%s\":%llu,", counts[i].name, (unsigned long long)counts[i].value);
  printf("\"fewest\":%u,\"most\":%u,\"spreadMs\":%.2f}\n", fewest == UINT32_MAX ? 0 : fewest, most,
         ticks > 0 ? spreads[ticks / 2] : 0.0);
}

// sink PORT PATH [RECEIVE_BYTES [IPV4_ADDRESS]]
int main(int argc, char** argv) {
  if (argc < 3 || inet_pton(AF_INET, argc > 4 ? argv[4] : "127.0.0.1", &host) != 1)
    return fprintf(stderr, "usage: sink PORT PATH [RECEIVE_BYTES [IPV4_ADDRESS]]\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  port = atoi(argv[1]);
  snprintf(path, sizeof path, "%s", argv[2]);
  receiveBytes = argc > 3 ? atoi(argv[3]) : 0;
  isSocket = strcmp(path, "/api/ws") == 0;
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path,
           isSocket ? upgradeLines : "Accept: text/event-stream\r\n");
  source = (unsigned)getpid() * 16u;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  poller = epoll_create1(EPOLL_CLOEXEC);
  setvbuf(stdout, NULL, _IOLBF, 0);
  fcntl(0, F_SETFL, O_NONBLOCK);
  char line[128];
  size_t have = 0;
  for (;;) {
    const ssize_t got = read(0, line + have, sizeof line - 1 - have);
    if (got == 0) return 0;
    if (got > 0) have += (size_t)got;
    line[have] = 0;
    char* end = strchr(line, '\n');
    if (end == NULL) {
      turn(20);
      continue;
    }
    double value = 0;
    char word[16] = "";
    sscanf(line, "%15s %lf", word, &value);
    have -= (size_t)(end + 1 - line);
    memmove(line, end + 1, have);
    if (strcmp(word, "open") == 0)
      openUntil((int)value);
    else if (strcmp(word, "stall") == 0)
      stall((int)value);
    else if (strcmp(word, "window") == 0)
      window(value);
    else if (strcmp(word, "close") == 0)
      closeUntil((int)value);
    else
      printf("{\"error\":\"unknown command\"}\n");
  }
}
