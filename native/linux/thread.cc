// Detached threads with a small stack: pthread_create(3).
#include "host/thread.h"

#include <dlfcn.h>
#include <pthread.h>

#include <csignal>
#include <memory>
#include <new>
#include <utility>

namespace hostwire {
namespace {

// Address space, not memory: a thread stuck in statvfs touches two or three pages of it. Drivers' libraries
// that are opened at run time need more than the 64 KiB that would suffice for a system call.
constexpr std::size_t kStackBytes = 256U << 10U;

using Body = std::function<void()>;

void* runBody(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  (*body)();
  return nullptr;
}

// Node unloads an addon when the last worker that loaded it ends; a stuck thread would return to unmapped
// code.
void keepThisCodeLoaded() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&runBody), &info) == 0 || info.dli_fname == nullptr) return;
  if (void* self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)) dlclose(self);
}

}  // namespace

bool startThread(std::function<void()> body) {
  static const bool isKept = (keepThisCodeLoaded(), true);
  static_cast<void>(isKept);
  std::unique_ptr<Body> owned(new (std::nothrow) Body(std::move(body)));
  if (!owned) return false;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // A signal must be delivered to a thread that can handle it, not to one that waits for a dead server.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool isStarted = pthread_create(&thread, &attributes, runBody, owned.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (isStarted) static_cast<void>(owned.release());
  return isStarted;
}

}  // namespace hostwire
