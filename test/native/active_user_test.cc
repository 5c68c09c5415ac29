// Prints, one line per change, where the session bus that root gets leads to: the daemon's id and this
// thread's ids, or why there is none. Until standard input ends. Driven by active-user.test.ts.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <future>
#include <string>

#include "linux/bus/thread.h"

namespace {

using namespace hostwire;

std::string ask(BusThread& thread) {
  std::promise<std::string> promise;
  auto line = promise.get_future();
  thread.post([&](BusLoop& loop) {
    const Call call{"org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId", {}};
    loop.sessionBus().call(call, std::chrono::milliseconds{500}, [&](Reply& reply) {
      const std::string ids = " as " + std::to_string(geteuid()) + ":" + std::to_string(getegid()) +
                              (prctl(PR_GET_DUMPABLE) == 1 ? "" : " not dumpable");
      promise.set_value((reply.end == CallEnd::kAnswered ? "bus " + reply.body.text(64).value_or("?")
                                                         : "none: " + reply.errorText) +
                        ids);
    });
  });
  return line.get();
}

bool isInputOpen() {
  pollfd input{STDIN_FILENO, POLLIN | POLLHUP, 0};
  return poll(&input, 1, 20) == 0;
}

}  // namespace

int main() {
  BusThread thread(busAddressesOfEnvironment());
  // Like the watcher of players, it keeps the connection open.
  thread.post([](BusLoop& loop) { loop.sessionBus().addMatch("member='Any'", [](Signal&) {}); });
  std::string last;
  do {
    std::string line = ask(thread);
    if (line == last) continue;
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    last = std::move(line);
  } while (isInputOpen());
}
