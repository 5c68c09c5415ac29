// Announcements as native/windows gives them to Windows, with functions made up here in place of Windows':
// what is registered, what comes back, and that each request lives until its answer. Compiled and run by
// discovery.test.ts.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "windows/discovery/announcements.h"
#include "windows/win32/unicode.h"

namespace {

using checks::check;
using checks::comes;
using checks::equal;
using hostwire::Announced;
using hostwire::Announcement;
using hostwire::Announcements;
using hostwire::DnsCalls;
using hostwire::toUtf8;

// This Windows.
struct Fake {
  std::mutex mutex;
  std::vector<std::string> asked;
  std::atomic<DWORD> status{hostwire::kDnsRequestPending};  // returned at once
  std::atomic<DWORD> outcome{ERROR_SUCCESS};                // reported later
  std::atomic<int> instances{0};
  std::atomic<int> delayMs{0};
  std::wstring name = L"desk (2)._hostwire._tcp.local";
};
Fake fake;

struct Texts {
  DNS_SERVICE_INSTANCE instance{};
  std::wstring name;
  std::string texts;
};

PDNS_SERVICE_INSTANCE WINAPI construct(PCWSTR name, PCWSTR host, PIP4_ADDRESS, PIP6_ADDRESS, WORD port, WORD,
                                       WORD, DWORD count, PCWSTR* keys, PCWSTR* values) {
  auto* const made = new Texts;
  made->name = name;
  made->instance.pszInstanceName = made->name.data();
  made->instance.wPort = port;
  for (DWORD at = 0; at < count; ++at) made->texts += " " + toUtf8(keys[at]) + ":" + toUtf8(values[at]);
  check(toUtf8(host).ends_with(".local"), "the host's own name");
  ++fake.instances;
  return &made->instance;
}

void WINAPI freeInstance(PDNS_SERVICE_INSTANCE instance) {
  --fake.instances;
  delete reinterpret_cast<Texts*>(instance);
}

DWORD take(const char* what, PDNS_SERVICE_REGISTER_REQUEST request, bool hasName) {
  const auto* const texts = reinterpret_cast<Texts*>(request->pServiceInstance);
  {
    const std::lock_guard lock(fake.mutex);
    fake.asked.push_back(std::string(what) + " " + toUtf8(texts->name) + " " +
                         std::to_string(texts->instance.wPort) + texts->texts);
  }
  if (fake.status != hostwire::kDnsRequestPending) return fake.status;
  std::thread([request, hasName] {
    std::this_thread::sleep_for(std::chrono::milliseconds{fake.delayMs});
    PDNS_SERVICE_INSTANCE answer = nullptr;
    if (hasName)
      answer = construct(fake.name.c_str(), L"x.local", nullptr, nullptr, 1, 0, 0, 0, nullptr, nullptr);
    request->pRegisterCompletionCallback(fake.outcome, request->pQueryContext, answer);
  }).detach();
  return hostwire::kDnsRequestPending;
}

DWORD WINAPI add(PDNS_SERVICE_REGISTER_REQUEST request, PDNS_SERVICE_CANCEL) {
  return take("add", request, fake.outcome == ERROR_SUCCESS);
}
DWORD WINAPI removeIt(PDNS_SERVICE_REGISTER_REQUEST request, PDNS_SERVICE_CANCEL) {
  return take("remove", request, false);
}

const DnsCalls* findFake() {
  static const DnsCalls calls{construct, freeInstance, add, removeIt};
  return &calls;
}
const DnsCalls* findNone() { return nullptr; }

// The thread that announcements live on, and what they have reported.
struct Rig {
  explicit Rig(const DnsCalls* (*find)())
      : announcements(std::make_shared<Announcements>(
            loop, [this](const std::vector<Announced>& now) { take(now); }, find)),
        thread([this] { loop->run(); }) {}
  ~Rig() {
    loop->end();
    thread.join();
  }
  void take(const std::vector<Announced>& now) {
    const std::lock_guard lock(mutex);
    last.clear();
    for (const Announced& each : now)
      last += each.name + (each.isAnnounced ? " announced " : " not: ") + each.reason + "\n";
  }
  std::string news() {
    const std::lock_guard lock(mutex);
    return last;
  }
  void set(std::vector<Announcement> list) {
    isDone = false;
    loop->post([this, list] { announcements->set(list, [this] { isDone = true; }); });
  }

  std::shared_ptr<hostwire::TaskLoop> loop = std::make_shared<hostwire::TaskLoop>();
  std::mutex mutex;
  std::string last;
  std::atomic<bool> isDone{false};
  std::shared_ptr<Announcements> announcements;
  std::thread thread;
};

const Announcement kDesk{"desk", 9990, "", {"txtvers=1", "path=/=", "tls=0"}};

std::string asked() {
  const std::lock_guard lock(fake.mutex);
  std::string all;
  for (const std::string& each : fake.asked) all += each + "\n";
  fake.asked.clear();
  return all;
}

void testLife() {
  Rig rig(findFake);
  rig.set({kDesk});
  check(comes([&] { return rig.news() == "desk (2) announced \n"; }), "announced as Windows has named it");
  check(rig.isDone, "there was nothing to withdraw");
  equal(asked(), "add desk._hostwire._tcp.local 9990 txtvers:1 path:/= tls:0\n", "the registration");
  rig.set({});
  check(comes([&] { return rig.isDone.load(); }), "withdrawn");
  equal(asked(), "remove desk._hostwire._tcp.local 9990 txtvers:1 path:/= tls:0\n", "the same instance");
}

void testEndedBeforeAdded() {
  fake.delayMs = 300;
  Rig rig(findFake);
  rig.set({kDesk});
  check(comes([&] { return rig.isDone.load(); }), "there was nothing to withdraw");
  rig.set({});
  check(comes([&] { return rig.isDone.load(); }), "withdrawn once it was there");
  check(asked().find("\nremove ") != std::string::npos, "what was under way is removed");
  equal(rig.news(), "", "nobody hears of it");
  fake.delayMs = 0;
}

void testFailures() {
  Rig rig(findFake);
  fake.status = ERROR_ACCESS_DENIED;
  rig.set({kDesk});
  check(comes([&] { return rig.news().find("desk not: DnsServiceRegister: ") == 0; }), "refused at once");
  fake.status = hostwire::kDnsRequestPending;
  fake.outcome = ERROR_TIMEOUT;
  rig.set({kDesk});
  check(comes([&] { return rig.news().find("(1460)") != std::string::npos; }), "refused later");
  check(rig.isDone, "what is not there needs no withdrawal");
  check(asked().find("remove") == std::string::npos, "nor is any tried");
  fake.outcome = ERROR_SUCCESS;
  Rig old(findNone);
  old.set({kDesk});
  check(comes([&] { return old.news().find("has no DnsServiceRegister") != std::string::npos; }),
        "an old one");
}

}  // namespace

int main() {
  testLife();
  testEndedBeforeAdded();
  testFailures();
  check(comes([] { return fake.instances == 0; }), "every instance was freed");
  return checks::report();
}
