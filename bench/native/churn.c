// Connects COUNT times and disconnects immediately, in each of several ways in turn.
//   churn PORT COUNT [PARALLEL [PER_SECOND]]   PARALLEL connections are open at a time; prints how many could
//                                              not connect
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PARALLEL = 2000 };

static const char* const requests[] = {
    "",                                                     // sends nothing
    "GET /api/stream HT",                                   // stops in the middle
    "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n",  // gone before the answer, or just after it
    "GET /api/stream?fields=cpu HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /api/pw/lock HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf",  // an incomplete body
};
enum { WAYS = sizeof requests / sizeof *requests };

static int come(int port, unsigned number) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  // Uses many loopback addresses, because an orderly close keeps the port for a minute.
  struct sockaddr_in local = {.sin_family = AF_INET};
  local.sin_addr.s_addr = htonl(0x7f010100u + ((unsigned)getpid() * 64u + number / 4096u) % 60000u);
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const char* request = requests[number % WAYS];
  if (bind(fd, (struct sockaddr*)&local, sizeof local) != 0 ||
      connect(fd, (struct sockaddr*)&peer, sizeof peer) != 0 ||
      send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
    close(fd);
    return -1;
  }
  return fd;
}

// Closes half of them orderly, half with a reset.
static void leave(int fd, unsigned number) {
  const struct linger reset = {1, 0};
  if (number / WAYS % 2 == 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(fd);
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: churn PORT COUNT [PARALLEL [PER_SECOND]]\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  const int port = atoi(argv[1]);
  const unsigned count = (unsigned)atoi(argv[2]);
  unsigned parallel = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
  if (parallel < 1 || parallel > MAX_PARALLEL) parallel = MAX_PARALLEL;
  const unsigned perSecond = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  static int open[MAX_PARALLEL];
  unsigned failed = 0;
  for (unsigned number = 0; number < count + parallel; number++) {
    int* place = &open[number % parallel];
    if (number >= parallel && *place >= 0) leave(*place, number - parallel);
    *place = number < count ? come(port, number) : -1;
    if (number < count && *place < 0) failed++;
    if (perSecond > 0) usleep(1000000 / perSecond);
  }
  printf("%u\n", failed);
  return 0;
}
