// Native work that may hang or wait, on a thread of its own, as a promise: the one catch between C++ and
// JavaScript. None of it runs on libuv's pool, where four calls that hang would freeze Node.
#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "host/thread.h"
#include "napi/error_js.h"
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

// Runs `work` on a detached thread and settles a promise with `convert(env, result)`. Both own what they
// touch. Rejects with EAGAIN when too much work is in progress.
template <class Result>
Napi::Promise startDetached(Napi::Env env, const std::shared_ptr<Completions>& completions,
                            std::function<Result()> work,
                            std::function<Napi::Value(Napi::Env, const Result&)> convert) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto refuse = [&] {
    deferred.Reject(
        toJsError(env, HostError(std::errc::resource_unavailable_try_again, "start a thread")).Value());
    return deferred.Promise();
  };
  // All memory for the end is allocated here, where an exception reaches JavaScript: the thread could not
  // report one.
  struct Outcome {
    std::optional<Result> result;
    std::exception_ptr failure;
  };
  const auto outcome = std::make_shared<Outcome>();
  auto owned = std::make_unique<Completions::Settle>([deferred, outcome, convert](Napi::Env jsEnv) {
    try {
      if (outcome->failure) std::rethrow_exception(outcome->failure);
      deferred.Resolve(convert(jsEnv, *outcome->result));
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      deferred.Reject(toJsError(jsEnv, error).Value());
    }
  });
  // std::function requires a copyable callable.
  const auto settle = std::make_shared<std::unique_ptr<Completions::Settle>>(std::move(owned));
  if (!completions->begin(env)) return refuse();
  bool isStarted = false;
  try {
    isStarted = startThread([completions, outcome, settle, run = std::move(work)] {
      try {
        outcome->result.emplace(run());
      } catch (...) {
        outcome->failure = std::current_exception();
      }
      completions->finish(std::move(*settle));
    });
  } catch (const std::bad_alloc&) {
    // treated like a missing thread
  }
  if (isStarted) return deferred.Promise();
  completions->abandon(env);
  return refuse();
}

// The same, with the overload of js for the result.
template <class Work>
Napi::Promise startDetached(Napi::Env env, const std::shared_ptr<Completions>& completions, Work work) {
  using Result = std::invoke_result_t<Work&>;
  return startDetached<Result>(env, completions, std::move(work),
                               [](Napi::Env jsEnv, const Result& result) { return js(jsEnv, result); });
}

inline Napi::Value bytesToJs(Napi::Env env, const std::string& bytes) {
  const auto copy = Napi::Buffer<char>::Copy(env, bytes.data(), bytes.size());
  return {env, copy};
}

}  // namespace hostwire
