// The JavaScript class `Power`.
#include "napi/power_binding.h"

#include <functional>
#include <optional>
#include <string>

#include "napi/finding_js.h"
#include "napi/js.h"
#include "napi/power_js.h"

namespace hostwire {
namespace {

PowerAction actionOf(const Napi::Value& value) {
  const std::string name = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  for (const auto& [known, action] : kPowerActionNames)
    if (known == name) return action;
  throw Napi::TypeError::New(value.Env(), "unknown power action " + name);
}

using Open = std::shared_ptr<OpenPromise>;

// Resolves `open` with `value` as a JavaScript value.
template <class Value>
void resolveWith(const Open& open, const Value& value) {
  OpenPromise::resolve(open, [value](Napi::Env env) { return js(env, value); });
}

// Settles `open`: without a failure it resolves.
std::function<void(const std::optional<std::string>&)> answerTo(const Open& open) {
  return [open](const std::optional<std::string>& failure) {
    if (failure) return OpenPromise::reject(open, *failure);
    OpenPromise::resolve(open, [](Napi::Env env) { return env.Undefined(); });
  };
}

}  // namespace

Napi::Function PowerBinding::define(Napi::Env env) {
  return DefineClass(
      env, "Power",
      {InstanceMethod<&PowerBinding::support>("support"), InstanceMethod<&PowerBinding::act>("act"),
       InstanceMethod<&PowerBinding::inhibitors>("inhibitors"),
       InstanceMethod<&PowerBinding::delaySleep>("delaySleep"),
       InstanceMethod<&PowerBinding::allowSleep>("allowSleep"),
       InstanceMethod<&PowerBinding::describe>("describe")});
}

PowerBinding::PowerBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<PowerBinding>(info), controls_(ControlsBinding::of(info[0])) {
  if (!info[1].IsFunction()) throw Napi::TypeError::New(info.Env(), "onSleep must be a function");
  // Held by callbacks of the command thread, which is joined on the JavaScript thread.
  const auto listener =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[1].As<Napi::Function>()));
  // The controls own the caller of this, so it must not own them.
  const std::weak_ptr<Controls> controls = controls_;
  power_ = std::make_unique<PowerControl>(controls_->thread, [controls, listener](bool isGoingToSleep) {
    const auto alive = controls.lock();
    if (!alive) return;
    alive->js.post([listener, isGoingToSleep](Napi::Env env) {
      listener->Value().Call({Napi::Boolean::New(env, isGoingToSleep)});
    });
  });
}

Napi::Value PowerBinding::support(const Napi::CallbackInfo& info) {
  const PowerAction action = actionOf(info[0]);
  const auto open = OpenPromise::start(info.Env(), controls_);
  power_->support(action, [open](const PowerSupport& support) { resolveWith(open, support); });
  return open->promise();
}

Napi::Value PowerBinding::act(const Napi::CallbackInfo& info) {
  const PowerAction action = actionOf(info[0]);
  const auto open = OpenPromise::start(info.Env(), controls_);
  power_->act(action, answerTo(open));
  return open->promise();
}

Napi::Value PowerBinding::inhibitors(const Napi::CallbackInfo& info) {
  const auto open = OpenPromise::start(info.Env(), controls_);
  power_->inhibitors(
      [open](const std::vector<PowerInhibitor>& list, const std::optional<std::string>& failure) {
        if (failure) return OpenPromise::reject(open, *failure);
        resolveWith(open, list);
      });
  return open->promise();
}

Napi::Value PowerBinding::delaySleep(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "why must be a string");
  const auto open = OpenPromise::start(info.Env(), controls_);
  power_->delaySleep(info[0].As<Napi::String>().Utf8Value(), answerTo(open));
  return open->promise();
}

void PowerBinding::allowSleep(const Napi::CallbackInfo&) { power_->allowSleep(); }

Napi::Value PowerBinding::describe(const Napi::CallbackInfo& info) {
  const auto open = OpenPromise::start(info.Env(), controls_);
  power_->describe([open](const Findings& findings) { resolveWith(open, findings); });
  return open->promise();
}

}  // namespace hostwire
