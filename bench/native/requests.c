// Sends COUNT requests over CONNECTIONS open connections, one at a time on each, and checks that each is answered
// with 200. Prints their number.
//   requests PORT PATH KEY COUNT CONNECTIONS
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 64, MAX_ANSWER = 64 * 1024, LIMIT_SECONDS = 60 };

static int openConnection(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  // A server that hangs ends the program instead of the bench.
  const struct timeval limit = {LIMIT_SECONDS, 0};
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr*)&peer, sizeof peer) != 0) return close(fd), -1;
  return fd;
}

// Reads one answer; returns whether it is whole and its status is 200.
static bool readAnswer(int fd) {
  static char answer[MAX_ANSWER + 1];
  size_t have = 0;
  for (;;) {
    const ssize_t got = recv(fd, answer + have, MAX_ANSWER - have, 0);
    if (got <= 0) return false;
    have += (size_t)got;
    answer[have] = 0;
    const char* end = strstr(answer, "\r\n\r\n");
    if (end == NULL) continue;
    const char* length = strcasestr(answer, "\r\ncontent-length:");
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || length == NULL || length > end) return false;
    const size_t whole = (size_t)(end + 4 - answer) + strtoul(length + 17, NULL, 10);
    if (have >= whole) return have == whole;
  }
}

int main(int argc, char** argv) {
  const int connections = argc == 6 ? atoi(argv[5]) : 0;
  if (connections < 1 || connections > MAX_CONNECTIONS)
    return fprintf(stderr, "usage: requests PORT PATH KEY COUNT CONNECTIONS\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  char request[1024];
  const int bytes = snprintf(request, sizeof request,
                             "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
                             argv[2], argv[3]);
  if (bytes < 0 || (size_t)bytes >= sizeof request) return fprintf(stderr, "the request is too long\n"), 2;
  int fds[MAX_CONNECTIONS];
  for (int i = 0; i < connections; i++)
    if ((fds[i] = openConnection(atoi(argv[1]))) < 0) return perror("connect"), 1;
  const long count = atol(argv[4]);
  for (long done = 0; done < count;) {
    const long left = count - done;
    const int turn = left < connections ? (int)left : connections;
    for (int i = 0; i < turn; i++)
      if (send(fds[i], request, (size_t)bytes, MSG_NOSIGNAL) != bytes) return perror("send"), 1;
    for (int i = 0; i < turn; i++, done++)
      if (!readAnswer(fds[i])) return fprintf(stderr, "request %ld was not answered with 200\n", done), 1;
  }
  printf("%ld\n", count);
  return 0;
}
