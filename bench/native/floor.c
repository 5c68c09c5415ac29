// The floor: a bare server that sends each client one event per second with one `send`, and does nothing
// else.
//   floor EVENT_FILE [socket]   prints its port; EVENT_FILE holds one event as the service frames it: chunk
//   marks, or the head of a WebSocket frame, included
// The ten digits after "timestamp": are updated each second, so that all events differ.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CLIENTS = 20000, BATCH = 512 };

static char event[1 << 20];
static size_t eventLength;
static int clients[MAX_CLIENTS], placeOf[MAX_CLIENTS + 64];
static int size;

static const char streamHead[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
    "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n";
// The answer to the example key of RFC 6455, which every client of the bench sends.
static const char socketHead[] =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
static int isSocket;

static void stamp(void) {
  static const char key[] = "\"timestamp\":";
  char* at = memmem(event, eventLength, key, sizeof key - 1);
  if (at == NULL) return;
  // A separate counter: two ticks may fall into the same second of the clock.
  static long long second;
  second = second == 0 ? (long long)time(NULL) : second + 1;
  char digits[32];
  snprintf(digits, sizeof digits, "%010lld", second);
  memcpy(at + sizeof key - 1, digits, 10);
}

static void drop(int fd) {
  const int place = placeOf[fd];
  clients[place] = clients[--size];
  placeOf[clients[place]] = place;
  close(fd);
}

// The options of the service's listening socket; connections inherit them here too.
static void tune(int fd) {
  const int on = 1, lowWater = 16 * 1024, userTimeoutMs = 20000, idle = 10, interval = 5, probes = 2;
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowWater, sizeof lowWater);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &userTimeoutMs, sizeof userTimeoutMs);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static void acceptAll(int listener, int poller) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
    placeOf[fd] = size;
    clients[size++] = fd;
  }
}

static void answer(int fd) {
  char request[4096];
  const ssize_t got = recv(fd, request, sizeof request, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    drop(fd);
    return;
  }
  if (request[0] == 'G' && isSocket) {
    send(fd, socketHead, sizeof socketHead - 1, MSG_NOSIGNAL);
    return;
  }
  // On a WebSocket this was the subscription: the clients send no other message.
  if (!isSocket) send(fd, streamHead, sizeof streamHead - 1, MSG_NOSIGNAL | MSG_MORE);
  send(fd, event, eventLength, MSG_NOSIGNAL);
}

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "usage: floor EVENT_FILE [socket]\n"), 2;
  isSocket = argc > 2;
  signal(SIGPIPE, SIG_IGN);
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL) return perror(argv[1]), 1;
  eventLength = fread(event, 1, sizeof event, file);
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
  tune(listener);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 4096) != 0)
    return perror("listen"), 1;
  socklen_t length = sizeof address;
  getsockname(listener, (struct sockaddr*)&address, &length);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  const struct itimerspec second = {{1, 0}, {1, 0}};
  timerfd_settime(timer, 0, &second, NULL);
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e);
  e.data.fd = timer;
  epoll_ctl(poller, EPOLL_CTL_ADD, timer, &e);
  stamp();
  printf("%d\n", ntohs(address.sin6_port));
  fflush(stdout);
  struct epoll_event ready[BATCH];
  for (;;) {
    const int count = epoll_wait(poller, ready, BATCH, -1);
    for (int i = 0; i < count; i++) {
      const int fd = ready[i].data.fd;
      if (fd == listener) {
        acceptAll(listener, poller);
      } else if (fd == timer) {
        uint64_t expired;
        if (read(timer, &expired, sizeof expired) < 0) continue;
        stamp();
        for (int place = size - 1; place >= 0; place--)
          send(clients[place], event, eventLength, MSG_NOSIGNAL);
      } else {
        answer(fd);
      }
    }
  }
}
