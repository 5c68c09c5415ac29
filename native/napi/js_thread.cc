// Posts tasks from other threads to the JavaScript thread, through a thread-safe function of Node-API.
#include "napi/js_thread.h"

#include <optional>
#include <utility>

namespace hostwire {

JsThread::JsThread(Napi::Env env) : env_(env), state_(std::make_shared<State>()) {
  function_ = Function::New(
      env, "hostwire", 0, 1, new Context(state_), [](Napi::Env, void*, Context* context) { delete context; },
      static_cast<void*>(nullptr));
  function_.Unref(env);
}

void JsThread::post(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->isClosed) return;
  state_->tasks.push_back(std::move(task));
  if (std::exchange(state_->isWoken, true)) return;
  function_.NonBlockingCall();
}

void JsThread::run(Napi::Env env, Napi::Function, Context* context, void*) {
  // Without an environment an entry is only discarded; the context was finalized before.
  if (static_cast<napi_env>(env) == nullptr) return;
  const Context state = *context;
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(state->mutex);
    state->isWoken = false;
    tasks = std::exchange(state->tasks, {});
  }
  std::optional<Napi::Error> first;
  for (const Task& task : tasks) {
    try {
      const Napi::HandleScope scope(env);
      task(env);
    } catch (const Napi::Error& error) {
      // While an environment ends every call into it throws, and nothing can receive the error.
      if (!first) first.emplace(error);
    }
  }
  if (first) first->ThrowAsJavaScriptException();
}

void JsThread::hold() {
  if (held_++ == 0 && !isClosed_) function_.Ref(env_);
}

void JsThread::release() {
  if (--held_ == 0 && !isClosed_) function_.Unref(env_);
}

void JsThread::close() {
  if (std::exchange(isClosed_, true)) return;
  std::vector<Task> dropped;
  {
    const std::lock_guard lock(state_->mutex);
    state_->isClosed = true;
    dropped = std::exchange(state_->tasks, {});
  }
  function_.Release();
}

}  // namespace hostwire
