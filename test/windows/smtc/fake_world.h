// The players that a test has made up, and how often each slot was called.
#pragma once

#include <unknwn.h>
#include <windows.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

// Held while anything of the world is touched, and never while a handler is called.
std::recursive_mutex& mutexOf();
using Guard = std::lock_guard<std::recursive_mutex>;

// Runs `body` on a detached thread. Not std::thread: many of those detached at a time, on a busy
// machine, are mixed up by winpthreads of mingw-w64 10, and one runs without its body.
void runElsewhere(std::function<void()> body);

std::map<std::string, long>& counts();
void count(const std::string& name);
long countOf(const std::string& name);

struct Handler {
  std::int64_t token;
  IUnknown* handler;
};

using Behaviour = std::map<std::string, long>;

struct Session {
  std::string id;
  std::string name;
  std::map<std::string, std::string> told;
  Behaviour behaviour;
  std::map<std::string, std::vector<Handler>> handlers;
  int generation = 0;
};

struct World {
  std::vector<std::shared_ptr<Session>> sessions;
  std::string current;
  Behaviour behaviour;
  std::vector<Handler> handlers;  // SessionsChanged
  std::int64_t lastToken = 0;
  std::int64_t lastPosition = -1;
};
World& world();

// How `session` behaves, or the manager.
long behaviourOf(const Session& session, const char* key);
long behaviourOfManager(const char* key);
long behaviourOf(const Behaviour& all, const char* key);
// True as many times as the test has asked for, then false.
bool isOnceMore(Session& session, const char* key);

}  // namespace fake
