// A thread-safe function that outlives neither its environment nor the threads that use it.
#include "napi/detached_work.h"

#include <exception>
#include <new>

#include "host/thread.h"
#include "napi/error_js.h"

namespace hostwire {
namespace {

// Maximum number of threads: an answer that waits (for the end of a process, for example) takes one.
constexpr int kMaxUnderWay = 32;

}  // namespace

std::shared_ptr<Completions> Completions::open(Napi::Env env) {
  auto completions = std::make_shared<Completions>();
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "hostwire"), 0, 1,
                                      nullptr, nullptr, completions.get(), call, &completions->function_);
  NAPI_THROW_IF_FAILED(env, status, completions);
  napi_unref_threadsafe_function(env, completions->function_);
  // Hooks run last in, first out: this one before that of the function. It owns what the function points to.
  napi_add_env_cleanup_hook(env, closeHook, new std::shared_ptr<Completions>(completions));
  return completions;
}

bool Completions::begin(Napi::Env env) {
  if (underWay_ >= kMaxUnderWay) return false;
  if (underWay_++ == 0) napi_ref_threadsafe_function(env, function_);
  return true;
}

void Completions::abandon(Napi::Env env) {
  if (--underWay_ == 0) napi_unref_threadsafe_function(env, function_);
}

void Completions::finish(std::unique_ptr<Settle> settle) noexcept {
  const std::lock_guard lock(mutex_);
  if (!isOpen_) return;
  // The queue has no limit, so this does not wait.
  if (napi_call_threadsafe_function(function_, settle.get(), napi_tsfn_nonblocking) == napi_ok)
    static_cast<void>(settle.release());
}

void Completions::call(napi_env env, napi_value, void* context, void* data) {
  const std::unique_ptr<Settle> settle(static_cast<Settle*>(data));
  if (env == nullptr) return;
  static_cast<Completions*>(context)->abandon(env);
  try {
    (*settle)(env);
  } catch (const Napi::Error&) {
    // The environment is ending: nothing can receive the result.
  }
}

void Completions::closeHook(void* kept) {
  const std::unique_ptr<std::shared_ptr<Completions>> completions(
      static_cast<std::shared_ptr<Completions>*>(kept));
  const std::lock_guard lock((*completions)->mutex_);
  (*completions)->isOpen_ = false;
}

Napi::Promise startWork(Napi::Env env, const std::shared_ptr<Completions>& completions,
                        std::function<Finish()> work) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto refuse = [&] {
    deferred.Reject(
        toJsError(env, HostError(std::errc::resource_unavailable_try_again, "start a thread")).Value());
    return deferred.Promise();
  };
  // All memory for the end is allocated here, where an exception reaches JavaScript: the thread could not
  // report one.
  struct Outcome {
    Finish finish;
    std::exception_ptr failure;
  };
  const auto outcome = std::make_shared<Outcome>();
  auto owned = std::make_unique<Completions::Settle>([deferred, outcome](Napi::Env jsEnv) {
    try {
      if (outcome->failure) std::rethrow_exception(outcome->failure);
      deferred.Resolve(outcome->finish(jsEnv));
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
        outcome->finish = run();
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

}  // namespace hostwire
