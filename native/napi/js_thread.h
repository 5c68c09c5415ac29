// The JavaScript thread as other threads see it: a place to have functions run.
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

  // On the JavaScript thread, as hold(), release() and close(). It does not keep Node alive by itself.
  explicit JsThread(Napi::Env env);
  JsThread(const JsThread&) = delete;
  JsThread& operator=(const JsThread&) = delete;

  // Has `task` run there, in order; from any thread. However many are posted, Node is woken once. After
  // close() it is dropped. What a task throws does not keep the next ones from running.
  void post(Task task);

  // While more was held than released Node does not end by itself.
  void hold();
  void release();
  // Nothing is run any more. More than once does nothing.
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
