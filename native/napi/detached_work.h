// Native work that may hang or wait, on a thread of its own, as a promise: the one catch between C++ and
// JavaScript. None of it runs on libuv's pool, where four calls that hang would freeze Node.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "napi/js.h"

namespace hostwire {

// Carries results to the JavaScript thread. Keeps Node alive while work is pending, and drops results that
// arrive after the environment has ended.
class Completions : public std::enable_shared_from_this<Completions> {
 public:
  using Settle = std::function<void(Napi::Env)>;

  static std::shared_ptr<Completions> open(Napi::Env env);
  // To be called on JavaScript's thread, before the work starts; returns false when too much work is in
  // progress.
  bool begin(Napi::Env env);
  // May be called on any thread, once for each begin().
  void finish(std::unique_ptr<Settle> settle) noexcept;
  // To be called on the JavaScript thread, for work that was begun but could not be started.
  void abandon(Napi::Env env);

 private:
  static void call(napi_env env, napi_value, void* context, void* data);
  static void closeHook(void* kept);

  std::mutex mutex_;
  bool isOpen_ = true;
  napi_threadsafe_function function_ = nullptr;
  int underWay_ = 0;  // only JavaScript's thread touches it
};

// Makes the result of finished work, on the JavaScript thread.
using Finish = std::function<Napi::Value(Napi::Env)>;

// Runs `work` on a detached thread, and settles a promise with what it returns. Both own what they touch.
// Rejects with EAGAIN when too much work is in progress.
Napi::Promise startWork(Napi::Env env, const std::shared_ptr<Completions>& completions,
                        std::function<Finish()> work);

// The same for work that returns a value; `convert(env, value)` makes the result.
template <class Work, class Convert>
Napi::Promise startDetached(Napi::Env env, const std::shared_ptr<Completions>& completions, Work work,
                            Convert convert) {
  return startWork(env, completions, [run = std::move(work), convert]() mutable -> Finish {
    return [value = run(), convert](Napi::Env jsEnv) -> Napi::Value { return convert(jsEnv, value); };
  });
}

// The same, with the overload of js for the value.
template <class Work>
Napi::Promise startDetached(Napi::Env env, const std::shared_ptr<Completions>& completions, Work work) {
  return startDetached(env, completions, std::move(work),
                       [](Napi::Env jsEnv, const auto& value) { return js(jsEnv, value); });
}

inline Napi::Value bytesToJs(Napi::Env env, const std::string& bytes) {
  const auto copy = Napi::Buffer<char>::Copy(env, bytes.data(), bytes.size());
  return {env, copy};
}

}  // namespace hostwire
