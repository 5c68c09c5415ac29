// Random histories of a stream writer, and what every peer may have received after them.
#include "streams_model.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "streams_peer.h"

namespace streams {
namespace {

using checks::check;
using hostwire::StreamFraming;
using hostwire::StreamId;
using std::chrono::milliseconds;

constexpr std::uint8_t kViews = 3;
constexpr std::size_t kMaxStreams = 60;
constexpr int kSteps = 400;

struct Subscriber {
  Peer peer;
  StreamId id = 0;
  std::uint8_t view = 0;
  std::uint32_t sentBefore = 0;
  bool isPlain = false;
  bool isStalled = false;
  bool isCut = false;
};

class History {
 public:
  History(hostwire::SendMethod method, unsigned seed)
      : watched_(optionsOf(method)),
        random_(seed),
        name_(std::string(method == hostwire::SendMethod::kSend ? "send" : "io_uring") + " history " +
              std::to_string(seed) + ": ") {}

  void run() {
    for (int step = 0; step < kSteps; ++step) act();
    settle();
    watched_.writer.end(milliseconds{100'000});
    check(comes([&] {
            bool areOver = true;
            for (auto& subscriber : subscribers_) {
              if (!subscriber->peer.isOpen()) continue;
              subscriber->peer.read();
              areOver = areOver && subscriber->peer.isOver();
            }
            return watched_.takeNews(), areOver && watched_.hasEnded;
          }),
          name_ + "it ends");
    check(watched_.cutAtEnd == 0, name_ + "nobody is cut who reads");
    for (const auto& subscriber : subscribers_) judge(*subscriber);
    const auto counters = watched_.writer.counters();
    check(counters.streams == 0 && counters.fullStreams == 0 && counters.bufferedBytes == 0,
          name_ + "nothing is left");
    check(watched_.closed.size() == ids_.size(), name_ + "every end is reported");
  }

 private:
  static hostwire::StreamOptions optionsOf(hostwire::SendMethod method) {
    hostwire::StreamOptions options;
    options.method = method;
    options.silence = milliseconds{200};
    return options;
  }

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  Subscriber* anyone() {
    return subscribers_.empty() ? nullptr : subscribers_[below(subscribers_.size())].get();
  }

  void act() {
    const std::size_t dice = below(100);
    if (dice < 22) return open();
    if (dice < 50) return publish(static_cast<std::uint8_t>(below(kViews)));
    if (dice < 54) {
      // A burst: newer samples come while one is distributed.
      for (int i = 0; i < 8; ++i) publish(static_cast<std::uint8_t>(below(kViews)));
      return;
    }
    if (dice < 58) return std::this_thread::sleep_for(milliseconds{below(12)});
    Subscriber* const subscriber = anyone();
    if (subscriber == nullptr || !subscriber->peer.isOpen()) return;
    if (dice < 62) {
      subscriber->peer.hangUp();
    } else if (dice < 64) {
      subscriber->isCut = true;
      watched_.writer.cut(std::array{subscriber->id});
    } else if (dice < 70) {
      subscriber->isStalled = !subscriber->isStalled;
    } else if (dice < 74) {
      send(subscriber->peer.fd(), "more?", 5, MSG_NOSIGNAL);
    } else if (dice < 84) {
      subscriber->peer.read(1 + below(5000));
    } else {
      for (auto& each : subscribers_)
        if (!each->isStalled && each->peer.isOpen()) each->peer.read();
    }
    watched_.takeNews();
  }

  void open() {
    if (subscribers_.size() >= kMaxStreams) return;
    const bool isSmall = below(3) > 0;
    auto subscriber =
        std::make_unique<Subscriber>(Subscriber{Peer(isSmall ? 16'384 : 0, isSmall ? 16'384 : 0)});
    subscriber->view = static_cast<std::uint8_t>(below(kViews));
    subscriber->isPlain = below(4) == 0;
    subscriber->isStalled = below(3) == 0;
    // Also one that lacks the newest, and one that skips the next.
    const std::uint32_t newest = newest_[subscriber->view];
    subscriber->sentBefore = newest == 0 ? 0 : newest - 1 + static_cast<std::uint32_t>(below(3));
    subscriber->id = watched_.writer.adopt(subscriber->peer.served(), openingOf(*subscriber));
    subscriber->peer.closeServed();
    ids_.insert(subscriber->id);
    publishAgain(subscriber->view);
    subscribers_.push_back(std::move(subscriber));
  }

  // With the sample that it has had, where there is one: as long as any.
  hostwire::StreamOpening openingOf(const Subscriber& subscriber) {
    first_ = subscriber.sentBefore == 0 ? std::string(kOpening)
                                        : eventOf(subscriber.view, subscriber.sentBefore,
                                                  below(4) == 0 ? below(60'000) : below(2000));
    const auto framing = subscriber.isPlain ? StreamFraming::kPlain : StreamFraming::kChunked;
    return {subscriber.view, subscriber.sentBefore, framing, "", first_};
  }

  void publish(std::uint8_t view) {
    ++newest_[view];
    padding_[view] = below(4) == 0 ? below(60'000) : below(2000);
    publishAgain(view);
  }
  void publishAgain(std::uint8_t view) {
    if (newest_[view] > 0)
      watched_.writer.publish(view, {newest_[view], eventOf(view, newest_[view], padding_[view]), {}});
  }

  // Everyone reads until everyone has the newest sample of its view.
  void settle() {
    const bool hasCome = comes([&] {
      bool isDone = true;
      late_.clear();
      for (auto& subscriber : subscribers_) {
        if (subscriber->isCut || !subscriber->peer.isOpen()) continue;
        subscriber->peer.read();
        const auto received = parse(subscriber->peer, subscriber->view, subscriber->isPlain);
        const std::uint32_t newest = newest_[subscriber->view];
        const bool has = newest <= subscriber->sentBefore ||
                         (!received.numbers.empty() && received.numbers.back() == newest);
        if (has && received.left == 0) continue;
        isDone = false;
        late_ = std::to_string(received.numbers.empty() ? 0 : received.numbers.back()) + " of " +
                std::to_string(newest) + (subscriber->isPlain ? ", plain" : "") +
                (subscriber->peer.isOver() ? ", over, " : ", ") + std::to_string(received.left) +
                " bytes more, " + std::to_string(watched_.writer.counters().fullStreams) + " full";
      }
      return isDone;
    });
    check(hasCome, name_ + "everyone has the newest sample; one has " + late_);
  }

  void judge(const Subscriber& subscriber) {
    const auto received = parse(subscriber.peer, subscriber.view, subscriber.isPlain);
    check(received.fault.empty(), name_ + received.fault);
    check(received.numbers.empty() || received.numbers.front() >= subscriber.sentBefore,
          name_ + "no sample is sent that it has had");
    if (subscriber.isCut || !subscriber.peer.isOpen()) return;
    check(received.left == 0, name_ + "nothing is torn at the end");
    check(received.hasEnd || subscriber.isPlain, name_ + "a last chunk");
    check(subscriber.peer.isOver() && !subscriber.peer.isReset(), name_ + "a clean end");
  }

  Watched watched_;
  std::mt19937 random_;
  std::string name_;
  std::string late_;
  std::string first_;
  std::vector<std::unique_ptr<Subscriber>> subscribers_;
  std::set<StreamId> ids_;
  std::array<std::uint32_t, kViews> newest_{};
  std::array<std::size_t, kViews> padding_{};
};

// Opens and closes until it must stop, and looks whether anything happened to what it had open.
void churn(const std::atomic<bool>& isOver, std::atomic<int>& harmed, std::atomic<int>& rounds) {
  while (!isOver) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) continue;
    const int file = memfd_create("reused", MFD_CLOEXEC);
    Peer peer;
    std::this_thread::yield();
    char byte = 0;
    for (const int fd : {pair[0], pair[1], peer.served(), peer.fd()})
      if (recv(fd, &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN) ++harmed;
    if (lseek(file, 0, SEEK_END) != 0 || send(pair[0], "x", 1, MSG_NOSIGNAL) != 1 ||
        send(peer.served(), "x", 1, MSG_NOSIGNAL) != 1)
      ++harmed;
    for (const int fd : {pair[0], pair[1], file})
      if (close(fd) != 0) ++harmed;
    ++rounds;
  }
}

}  // namespace

void testHistory(hostwire::SendMethod method, unsigned seed) { History(method, seed).run(); }

void testReuse(hostwire::SendMethod method) {
  hostwire::StreamOptions options;
  options.method = method;
  Watched watched(options);
  std::atomic<bool> isOver = false;
  std::atomic<int> harmed = 0;
  std::atomic<int> rounds = 0;
  std::thread first([&] { churn(isOver, harmed, rounds); });
  std::thread second([&] { churn(isOver, harmed, rounds); });
  std::mt19937 random(7);
  std::uint32_t number = 0;
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<StreamId> ids;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 4; ++i) {
      peers.push_back(std::make_unique<Peer>());
      ids.push_back(
          watched.writer.adopt(peers.back()->served(), {0, number, StreamFraming::kChunked, "", kOpening}));
      peers.back()->closeServed();
    }
    ++number;
    watched.writer.publish(0, {number, eventOf(0, number, 200), {}});
    for (int i = 0; i < 4; ++i) {
      if (random() % 2 == 0)
        peers[random() % peers.size()]->hangUp();
      else
        watched.writer.cut(std::array{ids[random() % ids.size()]});
    }
    watched.takeNews();
  }
  isOver = true;
  first.join();
  second.join();
  check(rounds > 20, "descriptor numbers were used again: " + std::to_string(rounds.load()));
  check(harmed == 0, "nothing happened to what was not the writer's: " + std::to_string(harmed.load()));
  for (auto& peer : peers) {
    if (peer->isOpen()) peer->read();
    const auto received = parse(*peer, 0, false);
    check(received.fault.empty(), "no stream got another's bytes: " + received.fault);
  }
}

}  // namespace streams
