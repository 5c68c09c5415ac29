// Native work that may hang or wait, on a thread of its own, as a promise.
#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "host/thread.h"
#include "napi/promise.h"

namespace hostwire {

// Carries results to the thread of JavaScript. It keeps Node alive while something is under way, and drops
// what comes after the environment has ended.
class Completions : public std::enable_shared_from_this<Completions> {
 public:
  using Settle = std::function<void(Napi::Env)>;

  static std::shared_ptr<Completions> open(Napi::Env env);
  // On JavaScript's thread, before the work starts; false when too much is under way.
  bool begin(Napi::Env env);
  // From any thread, once for each begin().
  void finish(Settle settle);
  // On JavaScript's thread: work that was begun and could not be started.
  void abandon(Napi::Env env);

 private:
  static void call(napi_env env, napi_value, void* context, void* data);
  static void closeHook(void* kept);

  std::mutex mutex_;
  bool isOpen_ = true;
  napi_threadsafe_function function_ = nullptr;
  int underWay_ = 0;  // only JavaScript's thread touches it
};

// As PromiseWork::start, but on a detached thread. `work` owns what it touches.
template <class Result>
Napi::Promise startDetached(Napi::Env env, const std::shared_ptr<Completions>& completions,
                            std::function<Result()> work,
                            std::function<Napi::Value(Napi::Env, const Result&)> convert) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto refuse = [&] {
    deferred.Reject(toJsError(env, HostError(EAGAIN, "start a thread")).Value());
    return deferred.Promise();
  };
  if (!completions->begin(env)) return refuse();
  const bool isStarted =
      startThread([completions, deferred, run = std::move(work), toValue = std::move(convert)] {
        auto result = std::make_shared<std::optional<Result>>();
        std::exception_ptr failure;
        try {
          result->emplace(run());
        } catch (...) {
          failure = std::current_exception();
        }
        completions->finish([deferred, result, failure, toValue](Napi::Env jsEnv) {
          try {
            if (failure) std::rethrow_exception(failure);
            deferred.Resolve(toValue(jsEnv, **result));
          } catch (const Napi::Error&) {
            throw;
          } catch (const std::exception& error) {
            deferred.Reject(toJsError(jsEnv, error).Value());
          }
        });
      });
  if (isStarted) return deferred.Promise();
  completions->abandon(env);
  return refuse();
}

}  // namespace hostwire
