// The JavaScript class `Controls`: the command thread, and its way back to JavaScript. Other classes (Power)
// are made from it.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/command_thread.h"
#include "napi/js_thread.h"

namespace hostwire {

// Shared with answers that are still to arrive.
struct Controls {
  explicit Controls(Napi::Env env) : js(env) {}

  JsThread js;
  CommandThread thread;
};

class ControlsBinding : public Napi::ObjectWrap<ControlsBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // Returns the controls of an object made by `new Controls()`; throws a TypeError for any other.
  static std::shared_ptr<Controls> of(const Napi::Value& value);

  // new Controls()
  explicit ControlsBinding(const Napi::CallbackInfo& info);
  ~ControlsBinding() override;

 private:
  static void endWithEnvironment(void* data);

  std::shared_ptr<Controls> controls_;
  bool isHooked_ = false;
};

// A promise that another thread settles, by a task on `controls.js`. Keeps Node alive until then.
class OpenPromise {
 public:
  static std::shared_ptr<OpenPromise> start(Napi::Env env, std::shared_ptr<Controls> controls) {
    return std::shared_ptr<OpenPromise>(new OpenPromise(env, std::move(controls)));
  }
  Napi::Promise promise() const { return deferred_.Promise(); }

  // Resolves with the result of `convert`, which runs on the JavaScript thread. May be called on any thread,
  // once.
  static void resolve(const std::shared_ptr<OpenPromise>& self,
                      std::function<Napi::Value(Napi::Env)> convert) {
    settle(self,
           [self, convert = std::move(convert)](Napi::Env env) { self->deferred_.Resolve(convert(env)); });
  }
  static void reject(const std::shared_ptr<OpenPromise>& self, std::string reason) {
    settle(self, [self, reason = std::move(reason)](Napi::Env env) {
      self->deferred_.Reject(Napi::Error::New(env, reason).Value());
    });
  }

 private:
  OpenPromise(Napi::Env env, std::shared_ptr<Controls> controls)
      : deferred_(Napi::Promise::Deferred::New(env)), controls_(std::move(controls)) {
    controls_->js.hold();
  }
  static void settle(const std::shared_ptr<OpenPromise>& self, JsThread::Task task) {
    self->controls_->js.post([self, task = std::move(task)](Napi::Env env) {
      self->controls_->js.release();
      task(env);
    });
  }

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Controls> controls_;
};

}  // namespace hostwire
