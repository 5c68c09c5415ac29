// A bus that a test owns, down to its bytes: it answers as the test says, which no real daemon would.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fake {

// Bytes of a D-Bus message, in this machine's order.
class Bytes {
 public:
  void pad(std::size_t to) { text.append((to - text.size() % to) % to, '\0'); }
  template <class T>
  void put(T value) {
    pad(sizeof value);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void putText(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    text.append(value);
    text += '\0';
  }
  void putSignature(std::string_view value) {
    text += static_cast<char>(value.size());
    text.append(value);
    text += '\0';
  }
  std::string text;
};

struct Body {
  std::string signature;
  std::string bytes;
};

// Marshals a value of each type in `signature`, with numbers and texts that `random` chooses. The signature
// is well formed.
Body randomBody(std::mt19937& random, std::string signature);
// A well-formed signature of up to three complete types, nested at most `depth` deep.
std::string randomSignature(std::mt19937& random, int depth);

struct Call {
  std::uint32_t serial;
  std::string member;
  std::string text;  // the first argument when it is a text
};

// How a call is answered.
struct Answer {
  enum class Kind { body, error, raw, nothing, hangUp };
  Kind kind = Kind::body;
  Body body;                      // of an error: its text
  std::string raw;                // instead of a message
  int copies = 1;                 // number of times the answer is sent
  std::uint32_t descriptors = 0;  // passed with it to a peer that takes them
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
  void emit(const std::string& member, const Body& body, int times = 1);
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
