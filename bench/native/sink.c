// Holds many subscribers of one event stream over epoll and checks what each of them gets: whole events only, none
// twice. Commands come on standard input, one a line; each answers with one line of JSON.
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

enum { MOST = 20000, BATCH = 512, KNOWN = 256, IN_FLIGHT = 512, MOST_TICKS = 4096 };
// RAW: a body that is not chunked.
enum State { HEAD, SIZE_CR, SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, RAW, ENDED };

struct Subscriber {
  int fd;
  uint8_t state;      // of the chunked encoding
  uint8_t matched;    // of the header's end
  uint8_t chunked;    // so much of that word was seen in the headers
  bool isOpen, hasEvent, isStalled;
  bool hasId;         // its event begins with a line of its own that another server writes: not ours to check
  uint32_t left;      // of the chunk
  uint32_t at;        // in the event
  uint8_t newlines;   // in a row
  uint64_t hash, lastHash;
  uint32_t events;    // in this window
  int64_t lastIndex;  // of its last event in this window; -1: it had none yet
};

// An event that was seen, and by how many: one that nobody else saw is torn, or was skipped by the others. Numbered in the order in which they came:
// whoever sees a gap in the numbers has missed an event that another subscriber got.
struct Event {
  uint64_t hash;
  uint32_t seen;
};

static struct Subscriber subscribers[MOST];
static struct Event known[KNOWN];
static int64_t nextKnown, firstKnown;
static int poller, port, receiveBytes;
static struct in_addr host;
static char path[512], request[1024];
static unsigned source;
static int size, opening, stalled;
static uint64_t events, bytes, torn, doubled, missed, backwards, alone, lost, ended, comments, rest;
static double spreads[MOST_TICKS];
static int ticks;
static double tickBegan, tickLast;
static uint64_t tickHash;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void endTick(void) {
  if (tickBegan > 0 && ticks < MOST_TICKS) spreads[ticks++] = tickLast - tickBegan;
  tickBegan = 0;
}

// The number of the event with this hash; the next one when nobody has seen it yet.
static int64_t indexOf(uint64_t hash) {
  for (int64_t index = nextKnown - 1; index >= firstKnown && index > nextKnown - KNOWN; index--) {
    struct Event* e = &known[index % KNOWN];
    if (e->hash != hash) continue;
    e->seen++;
    return index;
  }
  struct Event* e = &known[nextKnown % KNOWN];
  if (nextKnown - KNOWN > firstKnown && e->seen == 1) alone++;
  *e = (struct Event){hash, 1};
  return nextKnown++;
}

// What those missed who got nothing at the end, and the events that only one got; the window's first and last event
// may be on their way to the others.
static void settle(void) {
  for (int i = 0; i < size; i++) {
    const struct Subscriber* s = &subscribers[i];
    if (!s->isOpen || s->isStalled || !s->hasEvent) continue;
    const int64_t behind = nextKnown - 1 - (s->lastIndex < 0 ? firstKnown : s->lastIndex);
    if (behind > 1) missed += (uint64_t)(behind - 1);
  }
  for (int64_t index = nextKnown - 2; size > 1 && index > firstKnown && index > nextKnown - KNOWN; index--)
    alone += known[index % KNOWN].seen == 1;
}

static void sawEvent(struct Subscriber* s, uint64_t hash) {
  events++;
  s->events++;
  if (!s->hasEvent) {
    s->hasEvent = true;
    opening--;
  } else {
    const double at = now();
    if (hash != tickHash && at - tickLast > 100) {
      endTick();
      tickHash = hash;
      tickBegan = at;
    }
    if (hash == tickHash) tickLast = at;
  }
  const int64_t index = indexOf(hash);
  if (hash == s->lastHash) doubled++;
  else if (s->lastIndex > index) backwards++;
  else if (s->lastIndex >= 0) missed += (uint64_t)(index - s->lastIndex - 1);
  s->lastHash = hash;
  s->lastIndex = index;
}

// The event's bytes: `data: {…}\n\n`, or a comment such as `:\n\n`.
static void eat(struct Subscriber* s, const char* data, size_t length) {
  static const char prefix[] = "data: {";
  for (size_t i = 0; i < length; i++) {
    const char c = data[i];
    if (s->at == 0 && c == ':') s->hash = 0;
    else if (s->at == 0) {
      s->hash = 1469598103934665603ULL;
      s->hasId = c == 'i';
    }
    if (s->hash != 0) {
      if (!s->hasId && s->at < sizeof prefix - 1 && c != prefix[s->at]) torn++;
      s->hash = (s->hash ^ (uint8_t)c) * 1099511628211ULL;
    }
    s->at++;
    if (c != '\n') {
      s->newlines = 0;
      continue;
    }
    if (++s->newlines < 2) continue;
    if (s->hash == 0) comments++;
    else sawEvent(s, s->hash);
    s->at = 0;
    s->newlines = 0;
  }
}

static void lose(struct Subscriber* s) {
  if (!s->isOpen) return;
  if (!s->hasEvent) opening--;
  if (s->state == ENDED) ended++;
  else lost++;
  if (s->at != 0) rest++;
  close(s->fd);
  s->isOpen = false;
}

static void take(struct Subscriber* s, const char* data, size_t length) {
  static const char end[] = "\r\n\r\n", chunked[] = "chunked";
  const char* const stop = data + length;
  while (data < stop) {
    switch (s->state) {
      case HEAD:
        s->matched = *data == end[s->matched] ? s->matched + 1 : *data == '\r';
        if (s->chunked < 7) s->chunked = *data == chunked[s->chunked] ? s->chunked + 1 : *data == 'c';
        if (s->matched == 4) {
          s->state = s->chunked == 7 ? SIZE : RAW;
          s->left = 0;
        }
        data++;
        break;
      case SIZE_CR:
        s->state = *data++ == '\r' ? SIZE_LF : (torn++, SIZE);
        break;
      case SIZE: {
        const char c = *data++;
        if (c == '\r') s->state = SIZE_LF;
        else if (c >= '0' && c <= '9') s->left = s->left * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f') s->left = s->left * 16 + (uint32_t)((c | 32) - 'a' + 10);
        else torn++;
        break;
      }
      case SIZE_LF:
        if (*data++ != '\n') torn++;
        s->state = s->left == 0 ? ENDED : DATA;
        break;
      case DATA: {
        size_t some = (size_t)(stop - data);
        if (some > s->left) some = s->left;
        eat(s, data, some);
        data += some;
        s->left -= (uint32_t)some;
        if (s->left == 0) s->state = DATA_CR;
        break;
      }
      case DATA_CR:
        if (*data++ != '\r') torn++;
        s->state = DATA_LF;
        break;
      case DATA_LF:
        if (*data++ != '\n') torn++;
        s->state = SIZE;
        break;
      case RAW:
        eat(s, data, (size_t)(stop - data));
        return;
      default:
        return;
    }
  }
}

static void readSome(struct Subscriber* s) {
  static char buffer[256 * 1024];
  const ssize_t got = recv(s->fd, buffer, sizeof buffer, 0);
  if (got > 0) {
    bytes += (uint64_t)got;
    take(s, buffer, (size_t)got);
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
  // Many loopback addresses: one has only 28,000 ports.
  struct sockaddr_in local = {.sin_family = AF_INET};
  local.sin_addr.s_addr = htonl(0x7f000100u + (source + (unsigned)index / 4096u) % 60000u);
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  peer.sin_addr = host;
  // Elsewhere the kernel chooses the address.
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
    if (openOne(size)) size++;
    else failed++, usleep(1000);
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
  } counts[] = {{"events", events},   {"bytes", bytes},         {"torn", torn},   {"doubled", doubled},
                {"missed", missed},   {"backwards", backwards}, {"alone", alone}, {"lost", lost},
                {"ended", ended},     {"comments", comments},   {"cutShort", rest}};
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
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", path);
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
    if (strcmp(word, "open") == 0) openUntil((int)value);
    else if (strcmp(word, "stall") == 0) stall((int)value);
    else if (strcmp(word, "window") == 0) window(value);
    else if (strcmp(word, "close") == 0) closeUntil((int)value);
    else printf("{\"error\":\"unknown command\"}\n");
  }
}
