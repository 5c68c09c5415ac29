// A bus that a test owns, down to its bytes: it answers as the test says, which no real daemon would.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_body.h"

namespace fake {

struct Call {
  std::uint32_t serial;
  std::string member;
  std::string text;  // the first argument when it is a text
  std::string path;
  std::string body;
};

struct SignalName {
  std::string member;
  std::string path = "/fake";
  std::string interface = "fake.Interface";
  std::string sender = ":1.99";
};

// How a call is answered.
struct Answer {
  enum class Kind { body, error, raw, nothing, hangUp };
  Kind kind = Kind::body;
  Body body;                      // of an error: its text
  std::string raw;                // instead of a message
  int copies = 1;                 // number of times the answer is sent
  std::uint32_t descriptors = 0;  // passed with it to a peer that takes them
  std::string errorName = "fake.Error";
};

class Bus {
 public:
  enum class Manner { proper, mute, rejecting };
  using Answerer = std::function<Answer(const Call&)>;

  // Listens on `path`. `answer` is called on the bus's thread for every call that the bus does not answer
  // itself.
  Bus(std::string path, Answerer answer, Manner manner = Manner::proper);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Sends a signal to everyone, `times` over.
  void emit(const SignalName& name, const Body& body, int times = 1);
  // How often a member was called, including AddMatch and Hello.
  int count(const std::string& member);

 private:
  struct Peer;
  void run();
  bool serve(Peer& peer);
  bool authenticate(Peer& peer);
  bool answerCall(Peer& peer, const Call& call);
  void flushSignals(std::vector<Peer>& peers);

  const std::string path_;
  const Answerer answer_;
  const Manner manner_;
  int listenFd_ = -1;
  int wakeFd_ = -1;
  std::atomic<bool> isEnding_{false};
  std::mutex mutex_;
  std::map<std::string, int> counts_;
  std::string outgoing_;
  std::thread thread_;
};

}  // namespace fake
