// Writes without waiting but also without O_NONBLOCK on the stream itself: that flag belongs to the open
// file, which other programs of the same terminal or pipe share.
#include "host/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>

#include "host/error.h"

namespace hostwire {
namespace {

enum class Way : std::uint8_t {
  kUnknown,
  // A file takes all bytes in one call.
  kWrite,
  kSend,
  // Its own open file, which does not wait.
  kReopened,
  // A stream of another user, which cannot be opened again: poll(2) reports whether bytes fit.
  kPoll,
};

struct Stream {
  Way way = Way::kUnknown;
  int fd = -1;
};

// A pipe that poll(2) reports as writable takes this much (pipe(7)).
constexpr std::size_t kPipeBytes = 4096;

Stream openStream(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) throw HostError(errno, "fstat");
  if (S_ISSOCK(info.st_mode)) return {Way::kSend, fd};
  if (!S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode)) return {Way::kWrite, fd};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int own = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return own < 0 ? Stream{Way::kPoll, fd} : Stream{Way::kReopened, own};
}

// Kept for the life of the process.
Stream& streamOf(int fd) {
  static std::array<Stream, 3> streams;
  Stream& stream = streams.at(static_cast<std::size_t>(fd));
  if (stream.way == Way::kUnknown) stream = openStream(fd);
  return stream;
}

ssize_t writePolled(int fd, std::string_view bytes) {
  pollfd ready{fd, POLLOUT, 0};
  const int count = poll(&ready, 1, 0);
  if (count <= 0) return count;
  return write(fd, bytes.data(), std::min(bytes.size(), kPipeBytes));
}

ssize_t writeOnce(const Stream& stream, std::string_view bytes) {
  if (stream.way == Way::kSend)
    return send(stream.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (stream.way == Way::kPoll) return writePolled(stream.fd, bytes);
  return write(stream.fd, bytes.data(), bytes.size());
}

}  // namespace

// Node ignores SIGPIPE.
std::size_t writeAtOnce(int stream, std::string_view bytes) {
  const Stream& opened = streamOf(stream);
  ssize_t written = 0;
  do written = writeOnce(opened, bytes);
  while (written < 0 && errno == EINTR);
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
  throw HostError(errno, "write");
}

void ignoreStraySignals() {
  for (const int number : {SIGUSR1, SIGTTOU}) static_cast<void>(signal(number, SIG_IGN));
}

void releaseClosedTerminal() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    termios settings{};
    if (tcgetattr(fd, &settings) == 0 || errno != EIO) continue;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return;
    static_cast<void>(dup2(null, fd));
    close(null);
  }
}

void endWithParent() {
  const pid_t parent = getppid();
  static_cast<void>(prctl(PR_SET_PDEATHSIG, SIGTERM));
  // If it has just ended, this process belongs to another one.
  if (getppid() != parent) static_cast<void>(raise(SIGTERM));
}

}  // namespace hostwire
