// The world that a test makes up, and its commands to the made-up Windows.Media.Control: calls or a file.
// None of it is destroyed: threads may still run when the program ends.
#include <activation.h>
#include <process.h>
#include <windows.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_object.h"
#include "fake_smtc.h"

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
  // Without threads there is nothing left to test.
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

namespace {

using Invoke = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, void*, void*);

std::shared_ptr<Session> sessionOf(const std::string& id) {
  for (const auto& each : world().sessions)
    if (each->id == id) return each;
  return nullptr;
}

void fire(const std::vector<Handler>& handlers) {
  for (const Handler& each : handlers) invokeOf<Invoke>(each.handler)(each.handler, nullptr, nullptr);
  for (const Handler& each : handlers) each.handler->Release();
}

bool fireCommand(std::istringstream& words) {
  std::string what;
  std::string id;
  long times = 1;
  words >> what >> id;
  if (!(words >> times)) times = 1;
  for (long i = 0; i < times; ++i) {
    std::vector<Handler> handlers;
    {
      const Guard guard(mutexOf());
      if (what == "sessions") {
        handlers = world().handlers;
      } else {
        const auto session = sessionOf(id);
        if (!session) return false;
        handlers = session->handlers[what == "playback"   ? "Playback"
                                     : what == "timeline" ? "Timeline"
                                                          : "Metadata"];
      }
      for (const Handler& each : handlers) each.handler->AddRef();
    }
    fire(handlers);
  }
  return true;
}

bool sessionCommand(const std::string& verb, std::istringstream& words) {
  std::string id;
  std::string key;
  std::string value;
  words >> id;
  if (verb == "add") {
    const auto session = std::make_shared<Session>();
    session->id = id;
    std::getline(words >> std::ws, session->name);
    world().sessions.push_back(session);
    return true;
  }
  if (verb == "current") {
    world().current = id;
    return true;
  }
  const auto session = sessionOf(id);
  if (!session) return false;
  if (verb == "remove" || verb == "renew") {
    dropWrapper(session);
    auto& all = world().sessions;
    const auto place = std::find(all.begin(), all.end(), session);
    if (verb == "remove") {
      all.erase(place);
    } else {
      // Another object with the same name: its handlers are its own.
      const auto next = std::make_shared<Session>(*session);
      next->handlers.clear();
      *place = next;
    }
    return true;
  }
  words >> key;
  std::getline(words >> std::ws, value);
  if (verb == "set") session->told[key] = value;
  if (verb == "do") session->behaviour[key] = static_cast<long>(std::stoll(value, nullptr, 0));
  return verb == "set" || verb == "do";
}

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

__declspec(dllexport) bool fakeSmtcCommand(const char* command) {
  std::istringstream words(command);
  std::string verb;
  words >> verb;
  if (verb == "fire") return fireCommand(words);
  const Guard guard(mutexOf());
  if (verb != "manager") return sessionCommand(verb, words);
  std::string key;
  std::string value;
  words >> key >> value;
  world().behaviour[key] = static_cast<long>(std::stoll(value, nullptr, 0));
  return true;
}

__declspec(dllexport) long fakeSmtcCount(const char* name) { return countOf(name); }
__declspec(dllexport) long fakeSmtcLive() { return live; }
__declspec(dllexport) std::int64_t fakeSmtcPosition() {
  const Guard guard(mutexOf());
  return world().lastPosition;
}

// FAKE_SMTC_COMMANDS names a file of commands, one per line, which may grow: for tests in another process.
static void followCommands() {
  const wchar_t* const file = _wgetenv(L"FAKE_SMTC_COMMANDS");
  if (file == nullptr) return;
  const auto readFrom = [path = std::wstring(file)](std::streamoff at) {
    std::ifstream stream(path.c_str(), std::ios::binary);
    stream.seekg(at);
    std::string line;
    // A line without a line break is still being written.
    while (std::getline(stream, line) && !stream.eof()) {
      at += static_cast<std::streamoff>(line.size()) + 1;
      fakeSmtcCommand(line.c_str());
    }
    return at;
  };
  const std::streamoff begin = readFrom(0);
  runElsewhere([readFrom, begin] {
    for (std::streamoff at = begin;; at = readFrom(at))
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
  });
}

__declspec(dllexport) HRESULT STDMETHODCALLTYPE
    DllGetActivationFactory(HSTRING, IActivationFactory** factory) {
  static const bool isFollowing = (followCommands(), true);
  if (!isFollowing) return E_FAIL;
  *factory = reinterpret_cast<IActivationFactory*>(
      new Object(kFactorySlots, L"{00000035-0000-0000-C000-000000000046}", "factory"));
  return S_OK;
}

}  // extern "C"
