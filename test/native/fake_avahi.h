// An Avahi on a bus that a test owns: it announces as the real one does, or as the test says.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fake_bus.h"

namespace fake {

// Marshals a text, an object path, a number.
Body textBody(std::string_view text);
Body pathBody(std::string_view path);
Body numberBody(std::int32_t number);

class Avahi {
 public:
  // Called first for each call to Avahi; nothing: as the real one answers. On the bus's thread, under the
  // lock that the functions below take.
  using Answerer = std::function<std::optional<Answer>(const Call&)>;

  // On a bus that listens on `path`.
  explicit Avahi(std::string path);
  Avahi(const Avahi&) = delete;
  Avahi& operator=(const Avahi&) = delete;

  void answerBy(Answerer answerer);
  // Names that another host has: AddService refuses those that are taken, and those that are contested are
  // found out after Commit.
  void take(std::set<std::string> taken, std::set<std::string> contested = {});

  // It ends, which its groups do not survive; and begins.
  void end();
  void begin();
  // A signal of the server's state, as when the host's name changes.
  void emitState(std::int32_t state);
  void emitGroupState(const std::string& group, std::int32_t state, std::string_view error = "");
  void emitOwner(const Body& body);

  // The names that are announced now, sorted.
  std::vector<std::string> names();
  std::vector<std::string> groups();
  Bus& bus() { return bus_; }

 private:
  struct Group {
    std::string name;
    bool isCommitted = false;
  };
  Answer answer(const Call& call);
  Answer answerServer(const Call& call);
  Answer answerGroup(const Call& call);

  std::mutex mutex_;
  Answerer answerer_;
  bool isThere_ = true;
  std::set<std::string> taken_;
  std::set<std::string> contested_;
  std::map<std::string, Group> groups_;
  int lastNumber_ = 0;
  Bus bus_;
};

}  // namespace fake
