// Native work off the main thread, as a promise: the one catch between C++ and JavaScript.
#pragma once

#include <napi.h>

#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "host/error.h"

namespace hostwire {

// The JavaScript error for an exception: with Node's own `code` ("ENOENT") and `operation` for a system
// error, a plain message otherwise. Call it inside a catch block.
inline Napi::Error toJsError(Napi::Env env, const std::exception& error) {
  auto result = Napi::Error::New(env, error.what());
  if (const auto* host = dynamic_cast<const HostError*>(&error)) {
#ifdef __GLIBC__
    const char* name = strerrorname_np(host->code().value());
#else
    const char* name = nullptr;
#endif
    result.Set("code", Napi::String::New(env, name != nullptr ? name : std::to_string(host->code().value())));
    result.Set("operation", Napi::String::New(env, host->operation()));
  }
  return result;
}

// Runs `work` on libuv's pool and settles a promise with `convert(env, result)`. Only for what cannot hang:
// four stuck calls there freeze Node. Both functions own what they touch.
template <class Result>
class PromiseWork : public Napi::AsyncWorker {
 public:
  using Work = std::function<Result()>;
  using Convert = std::function<Napi::Value(Napi::Env, const Result&)>;

  static Napi::Promise start(Napi::Env env, Work work, Convert convert) {
    auto* job = new PromiseWork(env, std::move(work), std::move(convert));  // deletes itself when settled
    job->Queue();
    return job->deferred_.Promise();
  }

 protected:
  void Execute() override {
    try {
      result_ = work_();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void OnOK() override {
    const Napi::HandleScope scope(Env());
    try {
      if (failure_) std::rethrow_exception(failure_);
      deferred_.Resolve(convert_(Env(), *result_));
    } catch (const std::exception& error) {
      deferred_.Reject(toJsError(Env(), error).Value());
    }
  }

 private:
  PromiseWork(Napi::Env env, Work work, Convert convert)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        work_(std::move(work)),
        convert_(std::move(convert)) {}

  Napi::Promise::Deferred deferred_;
  Work work_;
  Convert convert_;
  std::optional<Result> result_;
  std::exception_ptr failure_;
};

}  // namespace hostwire
