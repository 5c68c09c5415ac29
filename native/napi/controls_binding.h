// The command thread, and its ways back to JavaScript. Other classes (Power) are made from an object of the
// JavaScript class `Controls`.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/command_thread.h"
#include "napi/js.h"
#include "napi/js_thread.h"

namespace hostwire {

// Shared with answers that are still to arrive.
struct Controls {
  explicit Controls(Napi::Env env) : js(env) {}

  JsThread js;
  CommandThread thread;
};

// Returns the controls of an object made by `new Controls()`; throws a TypeError for any other.
std::shared_ptr<Controls> controlsOf(const Napi::Value& value);

// A JavaScript function that other threads call. Held by callbacks of the command thread, which is joined on
// the JavaScript thread.
class Listener {
 public:
  // `name`: the argument's, for the TypeError if it is not a function.
  Listener(const Napi::Value& function, const char* name, const std::shared_ptr<Controls>& controls)
      : controls_(controls) {
    if (!function.IsFunction())
      throw Napi::TypeError::New(function.Env(), std::string(name) + " must be a function");
    function_ = std::make_shared<Napi::FunctionReference>(Napi::Persistent(function.As<Napi::Function>()));
  }

  // May be called on any thread. Does nothing when the controls are gone.
  template <class... Values>
  void operator()(const Values&... values) const {
    const auto alive = controls_.lock();
    if (!alive) return;
    alive->js.post([function = function_, values...]([[maybe_unused]] Napi::Env env) {
      function->Value().Call({js(env, values)...});
    });
  }

 private:
  // The controls own the caller of this, so it must not own them.
  std::weak_ptr<Controls> controls_;
  std::shared_ptr<Napi::FunctionReference> function_;
};

// A promise that another thread settles, by a task on `controls.js`. Keeps Node alive until then.
class OpenPromise : public std::enable_shared_from_this<OpenPromise> {
 public:
  static std::shared_ptr<OpenPromise> start(Napi::Env env, std::shared_ptr<Controls> controls) {
    return std::shared_ptr<OpenPromise>(new OpenPromise(env, std::move(controls)));
  }
  Napi::Promise promise() const { return deferred_.Promise(); }

  // Each of these may be called on any thread; only one of them, once.
  void resolve() {
    settle([](Napi::Env env, OpenPromise& self) { self.deferred_.Resolve(env.Undefined()); });
  }
  template <class Value>
  void resolve(Value value) {
    settle([value = std::move(value)](Napi::Env env, OpenPromise& self) {
      self.deferred_.Resolve(js(env, value));
    });
  }
  void reject(std::string reason) {
    settle([reason = std::move(reason)](Napi::Env env, OpenPromise& self) {
      self.deferred_.Reject(Napi::Error::New(env, reason).Value());
    });
  }
  void settleWith(const std::optional<std::string>& failure) {
    if (failure) return reject(*failure);
    resolve();
  }

 private:
  OpenPromise(Napi::Env env, std::shared_ptr<Controls> controls)
      : deferred_(Napi::Promise::Deferred::New(env)), controls_(std::move(controls)) {
    controls_->js.hold();
  }
  void settle(std::function<void(Napi::Env, OpenPromise&)> task) {
    controls_->js.post([self = shared_from_this(), task = std::move(task)](Napi::Env env) {
      self->controls_->js.release();
      task(env, *self);
    });
  }

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Controls> controls_;
};

}  // namespace hostwire
