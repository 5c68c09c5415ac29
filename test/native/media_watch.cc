// Watches and commands the players of the session bus for a while, without Node, so that sanitizers see all
// of it. Prints the last reports of the players. Compiled and run by media-watch.test.ts, which makes the
// players.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "host/media.h"

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::atomic<int> changes{0};
std::atomic<int> asked{0};
std::atomic<int> answered{0};

}  // namespace

int main(int argc, char** argv) {
  const auto until = Clock::now() + milliseconds(argc > 1 ? std::atoi(argv[1]) : 1000);
  hostwire::MediaSnapshot last;
  {
    hostwire::CommandThread thread;
    hostwire::MediaPlayers players(thread, [] { ++changes; });
    players.watch();
    for (int round = 0; Clock::now() < until; ++round) {
      last = players.read();
      // Each player in turn gets each command in turn; beyond full and beyond the end as well.
      if (!last.players.empty() && round % 5 == 0) {
        const auto& player = last.players[static_cast<std::size_t>(round / 5) % last.players.size()];
        const auto verb =
            static_cast<hostwire::MediaVerb>(static_cast<unsigned>(round / 5) % hostwire::kMediaVerbs);
        ++asked;
        players.control(player.id, verb, 0.5, milliseconds(100),
                        [](const hostwire::MediaReply&) { ++answered; });
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
    // Commands under way now are answered during the shutdown.
    for (const auto& player : last.players) {
      ++asked;
      players.control(player.id, hostwire::MediaVerb::kPlay, 0, milliseconds(1000),
                      [](const hostwire::MediaReply&) { ++answered; });
    }
    thread.stop();
    players.control(":1.1", hostwire::MediaVerb::kPlay, 0, milliseconds(1000),
                    [](const hostwire::MediaReply&) { ++answered; });
    ++asked;
  }
  std::printf("changed %d, ", changes > 0 ? 1 : 0);
  std::printf("unanswered %d, ", asked.load() - answered.load());
  std::printf("asked %d, ", asked.load() > 50 ? 1 : 0);
  std::printf("last '%s'\n", last.players.empty() ? "" : last.players[0].title.substr(0, 10).c_str());
  return 0;
}
