// What a test has made up. None of it is destroyed: threads of the fake may still run when the program ends.
#include "fake_world.h"

#include <process.h>

#include <cstdlib>
#include <utility>

namespace fake {

namespace {
unsigned __stdcall runBody(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return 0;
}
}  // namespace

void runElsewhere(std::function<void()> body) {
  auto* const owned = new std::function<void()>(std::move(body));
  const auto thread = _beginthreadex(nullptr, 0, runBody, owned, 0, nullptr);
  if (thread != 0) CloseHandle(reinterpret_cast<HANDLE>(thread));
  // Out of threads there is nothing left to test.
  if (thread == 0) std::abort();
}

std::recursive_mutex& mutexOf() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

std::map<std::string, long>& counts() {
  static auto* const all = new std::map<std::string, long>;
  return *all;
}

void count(const std::string& name) {
  const Guard guard(mutexOf());
  ++counts()[name];
}

long countOf(const std::string& name) {
  const Guard guard(mutexOf());
  return counts()[name];
}

World& world() {
  static auto* const all = new World;
  return *all;
}

long behaviourOf(const Behaviour& all, const char* key) {
  const auto found = all.find(key);
  return found == all.end() ? 0 : found->second;
}

long behaviourOf(const Session& session, const char* key) {
  const Guard guard(mutexOf());
  return behaviourOf(session.behaviour, key);
}

long behaviourOfManager(const char* key) {
  const Guard guard(mutexOf());
  return behaviourOf(world().behaviour, key);
}

bool isOnceMore(Session& session, const char* key) {
  const Guard guard(mutexOf());
  if (behaviourOf(session.behaviour, key) <= 0) return false;
  --session.behaviour[key];
  return true;
}

}  // namespace fake
