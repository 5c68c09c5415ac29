// The promises of the stream writer, over loopback with small buffers, by both of its methods of sending.
// Prints each failed check and exits 1 if there was one.
#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "host/error.h"
#include "host/streams.h"
#include "streams_model.h"
#include "streams_peer.h"

namespace {

using checks::check;
using hostwire::SendMethod;
using hostwire::StreamFraming;
using hostwire::StreamId;
using hostwire::StreamOptions;
using hostwire::StreamWriter;
using std::chrono::milliseconds;
using streams::comes;
using streams::eventOf;
using streams::parse;
using streams::Peer;
using streams::Watched;

// A kernel buffer that a few kilobytes fill.
constexpr int kSmall = 16'384;
constexpr std::size_t kLong = 20'000;
// More than the buffers of both ends hold, so that a rest of it is always kept.
constexpr std::size_t kTooLong = 200'000;

StreamOptions with(SendMethod method) {
  StreamOptions options;
  options.method = method;
  return options;
}

StreamId adopt(Watched& watched, Peer& peer, std::uint8_t view = 0,
               StreamFraming framing = StreamFraming::kChunked, std::uint32_t sent = 0) {
  const StreamId id = watched.writer.adopt(peer.served(), {view, sent, framing, "", streams::kOpening});
  peer.closeServed();
  return id;
}

bool gets(Peer& peer, const std::string& wanted) {
  return comes([&] {
    peer.read();
    return peer.bytes() == std::string(streams::kOpeningChunk) + wanted ||
           peer.bytes() == std::string(streams::kOpening) + wanted;
  });
}

bool ends(Peer& peer) {
  return comes([&] {
    peer.read();
    return peer.isOver();
  });
}

// Fills the stream of `peer` with one event, until the writer reports it as full.
std::uint32_t fill(Watched& watched, std::uint8_t view) {
  watched.writer.publish(view, {1, eventOf(view, 1, kTooLong), {}});
  check(comes([&] { return watched.writer.counters().fullStreams == 1; }),
        "a peer that reads nothing is full");
  return 1;
}

void testFraming(SendMethod method) {
  Watched watched(with(method));
  Peer chunked;
  Peer plain;
  Peer other;
  Peer early;
  adopt(watched, chunked);
  adopt(watched, plain, 0, StreamFraming::kPlain);
  adopt(watched, other, 5);
  adopt(watched, early, 0, StreamFraming::kChunked, 7);
  watched.writer.publish(0, {7, "data: {}\n\n", {}});
  check(gets(chunked, "a\r\ndata: {}\n\n\r\n"), "an event is one complete chunk");
  check(gets(plain, "data: {}\n\n"), "HTTP/1.0 has no chunk marks");
  check(watched.writer.method() == method, "the method that was asked for");
  // The same number again, for streams that joined since.
  watched.writer.publish(0, {7, "data: {}\n\n", {}});
  Peer late;
  adopt(watched, late, 0, StreamFraming::kChunked, 6);
  check(gets(late, "a\r\ndata: {}\n\n\r\n"),
        "a sample that came while a stream was handed over is made up for");
  watched.writer.publish(0, {8, "data: []\n\n", {}});
  check(gets(early, "a\r\ndata: []\n\n\r\n"), "no stream gets a sample that it has had");
  check(gets(chunked, "a\r\ndata: {}\n\n\r\na\r\ndata: []\n\n\r\n"), "and none gets one twice");
  other.read();
  check(other.bytes() == streams::kOpeningChunk, "no stream gets another channel's");
}

void testOpening(SendMethod method) {
  Watched watched(with(method));
  Peer chunked;
  Peer plain;
  const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
  watched.writer.adopt(chunked.served(), {3, 4, StreamFraming::kChunked, head, "data: 4\n\n"});
  watched.writer.adopt(plain.served(), {3, 4, StreamFraming::kPlain, head, "data: 4\n\n"});
  chunked.closeServed();
  plain.closeServed();
  const auto has = [](Peer& peer, const std::string& wanted) {
    return comes([&] { return peer.read(), peer.bytes() == wanted; });
  };
  check(has(chunked, head + "9\r\ndata: 4\n\n\r\n"), "head and first event come first");
  check(has(plain, head + "data: 4\n\n"), "also without chunk marks");
  check(watched.writer.counters().sentEvents == 2, "the first event counts");
  watched.writer.publish(3, {4, "data: 4\n\n", {}});
  watched.writer.publish(3, {5, "data: 5\n\n", {}});
  check(has(plain, head + "data: 4\n\ndata: 5\n\n"), "then what it has not had");
}

// A peer with small buffers that reads nothing is sent the rest of its opening before all else.
void testLongOpening(SendMethod method) {
  Watched watched(with(method));
  Peer peer(kSmall, kSmall);
  const std::string event = eventOf(1, 1, kTooLong);
  const StreamId id =
      watched.writer.adopt(peer.served(), {1, 1, StreamFraming::kChunked, "head\r\n\r\n", event});
  peer.closeServed();
  check(comes([&] { return watched.takeNews(), watched.kept[id] > 0; }), "what is left is reported");
  watched.writer.publish(1, {2, eventOf(1, 2, 10), {}});
  check(watched.writer.mayMiss(), "it may miss something");
  check(comes([&] {
          peer.read();
          return peer.bytes().ends_with(eventOf(1, 2, 10) + "\r\n");
        }),
        "the next event follows");
  check(peer.bytes().starts_with("head\r\n\r\n30d4c\r\n" + event + "\r\n"), "nothing of the opening is lost");
  check(comes([&] { return watched.takeNews(), watched.kept[id] == 0; }), "then nothing is kept");
  check(comes([&] { return !watched.writer.mayMiss(); }), "and nothing is missed");
}

// A stream that missed a sample gets the whole, the others what changed.
void testWhole(SendMethod method) {
  Watched watched(with(method));
  Peer stalled(kSmall, kSmall);
  Peer reads;
  adopt(watched, stalled);
  adopt(watched, reads);
  watched.writer.publish(0, {1, eventOf(0, 1, kTooLong), {}});
  check(comes([&] { return reads.read(), parse(reads, 0, false).numbers.size() == 1; }), "one reads");
  watched.writer.publish(0, {2, "data: part 2\n\n", "data: whole 2\n\n"});
  check(comes([&] { return reads.read(), reads.bytes().ends_with("data: part 2\n\n\r\n"); }),
        "who had the one before gets the part");
  watched.writer.publish(0, {3, "data: part 3\n\n", "data: whole 3\n\n"});
  check(comes([&] { return reads.read(), reads.bytes().ends_with("data: part 3\n\n\r\n"); }), "and the next");
  check(comes([&] { return stalled.read(), stalled.bytes().ends_with("data: whole 3\n\n\r\n"); }),
        "who missed one gets the whole");
  watched.writer.publish(0, {4, "data: part 4\n\n", "data: whole 4\n\n"});
  check(comes([&] { return stalled.read(), stalled.bytes().ends_with("data: part 4\n\n\r\n"); }),
        "and goes on with parts");
}

void testChannels(SendMethod method) {
  Watched watched(with(method));
  Peer first;
  Peer second;
  adopt(watched, first, 1);
  const StreamId id = adopt(watched, second, 2);
  watched.writer.publish(1, {1, "data: {}\n\n", {}});
  check(gets(first, "a\r\ndata: {}\n\n\r\n"), "an event");
  watched.writer.finish(1);
  check(ends(first) && !first.isReset() && first.bytes().ends_with("0\r\n\r\n"), "a channel ends cleanly");
  check(
      comes([&] { return watched.takeNews(), watched.closed.size() == 1; }) && watched.closed.count(id) == 0,
      "and no other");
  watched.writer.forget(1);
  Peer next;
  adopt(watched, next, 1);
  watched.writer.publish(1, {1, "data: []\n\n", {}});
  check(gets(next, "a\r\ndata: []\n\n\r\n"), "its number is another's then, from the first sample on");
  watched.writer.forget(2);
  watched.writer.publish(2, {1, "data: {}\n\n", {}});
  check(gets(second, "a\r\ndata: {}\n\n\r\n"), "streams outlive the events of their channel");
}

void testSilence(SendMethod method) {
  StreamOptions options = with(method);
  options.silence = milliseconds{300};
  Watched watched(options);
  Peer chunked;
  Peer plain;
  adopt(watched, chunked);
  adopt(watched, plain, 1, StreamFraming::kPlain);
  check(comes([&] { return chunked.read(), parse(chunked, 0, false).comments == 2; }),
        "a comment after silence");
  check(comes([&] { return plain.read(), parse(plain, 1, true).comments >= 2; }), "and without chunk marks");
  check(chunked.bytes().substr(streams::kOpeningChunk.size(), 8) == "3\r\n:\n\n\r\n",
        "its chunk is complete");
}

void testFull(SendMethod method) {
  Watched watched(with(method));
  Peer peer(kSmall, kSmall);
  const StreamId id = adopt(watched, peer, 2);
  std::uint32_t number = fill(watched, 2);
  check(comes([&] { return watched.takeNews(), watched.kept[id] > 0; }), "what is kept for it is reported");
  check(watched.kept[id] == watched.writer.counters().bufferedBytes, "and counted");
  check(watched.kept[id] < kTooLong, "it is less than one event");
  for (const std::uint32_t last = number + 20; number < last;) {
    ++number;
    watched.writer.publish(2, {number, eventOf(2, number, kLong), {}});
  }
  check(watched.writer.counters().bufferedBytes == watched.kept[id], "nothing else queues");
  check(comes([&] {
          peer.read();
          const auto received = parse(peer, 2, false);
          return !received.numbers.empty() && received.numbers.back() == number;
        }),
        "it gets the newest sample as soon as there is room");
  const auto received = parse(peer, 2, false);
  check(received.fault.empty() && received.left == 0, "no event is torn: " + received.fault);
  check(received.numbers.size() < number - 15, "it skipped those between");
  check(comes([&] { return watched.takeNews(), watched.kept[id] == 0; }), "then nothing is kept");
  const auto counters = watched.writer.counters();
  check(counters.fullStreams == 0 && counters.bufferedBytes == 0 && counters.streams == 1, "the counters agree");
}

void testHangUp(SendMethod method) {
  Watched watched(with(method));
  Peer stays;
  const StreamId staysId = adopt(watched, stays);
  auto leaves = std::make_unique<Peer>();
  const StreamId id = adopt(watched, *leaves);
  leaves->hangUp();
  check(comes([&] { return watched.takeNews(), watched.closed.count(id) == 1; }), "a hang-up is reported");
  check(watched.writer.counters().streams == 1 && watched.closed.count(staysId) == 0, "the others stay");
  Peer next;
  const StreamId nextId = adopt(watched, next);
  check(nextId != id && (nextId & 0xfffff) == (id & 0xfffff), "its slot is used again, its id is not");
  watched.writer.cut(std::vector{id});
  watched.writer.publish(0, {1, "data: {}\n\n", {}});
  check(gets(next, "a\r\ndata: {}\n\n\r\n"), "an id that has ended cuts nobody");
  watched.writer.cut(std::vector{nextId});
  check(ends(next) && next.isReset(), "one that is cut is reset");
  check(comes([&] { return watched.takeNews(), watched.closed.count(nextId) == 1; }), "and reported");
}

void testInput(SendMethod method) {
  Watched watched(with(method));
  Peer chatty;
  Peer flood;
  adopt(watched, chatty);
  const StreamId floodId = adopt(watched, flood);
  const std::string kilobyte(1024, 'x');
  for (int i = 0; i < 16; ++i) send(chatty.fd(), kilobyte.data(), kilobyte.size(), MSG_NOSIGNAL);
  check(comes([&] {
          for (int i = 0; i < 16; ++i) send(flood.fd(), kilobyte.data(), kilobyte.size(), MSG_NOSIGNAL);
          return watched.takeNews(), watched.closed.count(floodId) == 1;
        }),
        "a peer that floods is cut");
  watched.writer.publish(0, {1, "data: {}\n\n", {}});
  check(gets(chatty, "a\r\ndata: {}\n\n\r\n"), "one that sends a little is not");
}

void testStall(SendMethod method) {
  StreamOptions options = with(method);
  options.stallLimit = milliseconds{600};
  Watched watched(options);
  Peer stalled(kSmall, kSmall);
  Peer reads;
  const StreamId id = adopt(watched, stalled, 1);
  adopt(watched, reads, 2);
  fill(watched, 1);
  check(comes([&] { return watched.takeNews(), watched.closed.count(id) == 1; }),
        "one that takes nothing is cut");
  check(watched.kept[id] > 0 && watched.writer.counters().bufferedBytes == 0, "and nothing is kept for it");
  std::this_thread::sleep_for(milliseconds{800});
  check(watched.writer.counters().streams == 1, "one that has room stays however silent");
}

void testEnd(SendMethod method) {
  Watched watched(with(method));
  Peer idle;
  Peer plain;
  Peer slow(kSmall, kSmall);
  Peer stuck(kSmall, kSmall);
  adopt(watched, idle, 1);
  adopt(watched, plain, 1, StreamFraming::kPlain);
  adopt(watched, slow, 2);
  const std::uint32_t number = fill(watched, 2);
  adopt(watched, stuck, 3);
  for (std::uint32_t i = 1; i < 200 && watched.writer.counters().fullStreams < 2; ++i) {
    watched.writer.publish(3, {i, eventOf(3, i, kLong), {}});
    std::this_thread::sleep_for(milliseconds{5});
  }
  watched.writer.publish(1, {1, eventOf(1, 1, 10), {}});
  watched.writer.end(milliseconds{4000});
  check(ends(idle) && !idle.isReset(), "a stream ends");
  auto received = parse(idle, 1, false);
  check(received.fault.empty() && received.hasEnd && received.numbers.size() == 1,
        "after its last event, cleanly");
  check(ends(plain) && plain.bytes() == std::string(streams::kOpening) + eventOf(1, 1, 10),
        "the end of HTTP/1.0 is the connection's");
  check(ends(slow) && !slow.isReset(), "one with a rest takes it first");
  received = parse(slow, 2, false);
  check(received.fault.empty() && received.hasEnd && received.numbers.back() == number,
        "and the newest sample");
  const auto isOver = [&] { return watched.takeNews(), watched.hasEnded && watched.closed.size() == 4; };
  check(comes(isOver), "the end is reported, and that of each stream");
  check(watched.cutAtEnd == 1, "one that takes nothing is cut at the limit");
  check(watched.writer.counters().streams == 0, "none is left");
  Peer late;
  try {
    adopt(watched, late);
    check(false, "no stream begins after the end");
  } catch (const hostwire::HostError& error) {
    check(error.symbol() == "ECANCELED", "no stream begins after the end");
  }
}

// As on a machine so busy that the limit has passed before the thread gets a processor.
void testLateEnd(SendMethod method) {
  constexpr std::size_t kPeers = 300;
  Watched watched(with(method));
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::size_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<Peer>());
    adopt(watched, *peers.back(), 1);
  }
  watched.writer.publish(1, {1, eventOf(1, 1, 10), {}});
  watched.writer.end(milliseconds{0});
  check(comes([&] { return watched.takeNews(), watched.hasEnded; }), "the end is reported");
  check(watched.cutAtEnd == 0, "nobody who takes the last chunk is cut");
  check(std::all_of(peers.begin(), peers.end(),
                    [](const auto& peer) {
                      return ends(*peer) && !peer->isReset() && parse(*peer, 1, false).hasEnd;
                    }),
        "each stream ends after its last event");
}

int threadsAlive() {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  closedir(folder);
  return count;
}

int descriptorsOpen() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  closedir(folder);
  return count;
}

void testThread(SendMethod method) {
  const int before = threadsAlive();
  Watched watched(with(method));
  const int descriptors = descriptorsOpen();
  watched.writer.publish(0, {1, "data: {}\n\n", {}});
  check(threadsAlive() == before && watched.writer.method() == SendMethod::kAuto,
        "no thread without streams");
  for (int round = 0; round < 2; ++round) {
    Peer peer;
    adopt(watched, peer);
    check(threadsAlive() == before + 1, "one with a stream");
    peer.hangUp();
    check(comes([&] { return watched.takeNews(), threadsAlive() == before; }),
          "and none again after the last");
    check(descriptorsOpen() == descriptors, "nor any descriptor");
  }
}

void testFailures(SendMethod method) {
  Watched watched(with(method));
  Peer peer;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{0, limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  std::string symbol;
  try {
    watched.writer.adopt(peer.served(), {0, 0, StreamFraming::kChunked, "", streams::kOpening});
  } catch (const hostwire::HostError& error) {
    symbol = error.symbol();
  }
  setrlimit(RLIMIT_NOFILE, &limit);
  check(symbol == "EINVAL" || symbol == "EMFILE", "without a descriptor none is adopted: " + symbol);
  check(watched.writer.counters().streams == 0, "and none is counted");
  adopt(watched, peer);
  watched.writer.publish(0, {1, "data: {}\n\n", {}});
  check(gets(peer, "a\r\ndata: {}\n\n\r\n"), "the next one is");
  watched.writer.close();
  check(ends(peer), "close ends at once");
}

}  // namespace

// streams_test [seed]
int main(int argc, char** argv) {
  const bool hasSeed = argc > 1 && std::atoi(argv[1]) > 0;
  const auto seed = hasSeed ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  std::vector<SendMethod> methods{SendMethod::kSend};
  if (hostwire::findSendMethod() == SendMethod::kIoUring)
    methods.push_back(SendMethod::kIoUring);
  else
    std::printf("no io_uring here\n");
  for (const SendMethod method : methods) {
    if (!hasSeed) {
      for (const auto& test :
           {testFraming, testOpening, testLongOpening, testWhole, testChannels, testSilence, testFull,
            testHangUp, testInput, testStall, testEnd, testLateEnd, testThread, testFailures})
        test(method);
      streams::testReuse(method);
    }
    for (unsigned history = 0; history < 12; ++history) streams::testHistory(method, seed + history);
  }
  return checks::report();
}
