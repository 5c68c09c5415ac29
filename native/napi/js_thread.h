// Posts tasks from other threads to the JavaScript thread.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace hostwire {

class JsThread {
 public:
  using Task = std::function<void(Napi::Env)>;

  // To be called on the JavaScript thread, like hold(), release() and close(). It does not keep Node alive on
  // its own.
  explicit JsThread(Napi::Env env);
  JsThread(const JsThread&) = delete;
  JsThread& operator=(const JsThread&) = delete;

  // Runs `task` on the JavaScript thread, in order; may be called on any thread. Several posted tasks wake
  // Node once. After close() the task is dropped. A task's exception does not keep the next ones from
  // running.
  void post(Task task);

  // Keeps Node alive until as many releases have followed.
  void hold();
  void release();
  // Drops all further tasks. Further calls do nothing.
  void close();

 private:
  struct State {
    std::mutex mutex;
    std::vector<Task> tasks;
    bool isWoken = false;
    bool isClosed = false;
  };
  // The function has its own share: it may be called once more when everything else is gone.
  using Context = std::shared_ptr<State>;
  static void run(Napi::Env env, Napi::Function callback, Context* context, void* data);
  using Function = Napi::TypedThreadSafeFunction<Context, void, &JsThread::run>;

  Napi::Env env_;
  Function function_;
  Context state_;
  int held_ = 0;
  bool isClosed_ = false;
};

}  // namespace hostwire
