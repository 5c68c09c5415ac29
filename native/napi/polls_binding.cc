// The JavaScript class `PausedPolls`.
#include "napi/polls_binding.h"

#include <node_api.h>

#include <exception>
#include <optional>

#include "napi/error_js.h"

namespace hostwire {

Napi::Function PollsBinding::define(Napi::Env env) {
  return DefineClass(
      env, "PausedPolls",
      {InstanceMethod<&PollsBinding::look>("look"), InstanceMethod<&PollsBinding::takeResumed>("takeResumed"),
       InstanceMethod<&PollsBinding::hasPendingBytes>("hasPending")});
}

PollsBinding::PollsBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PollsBinding>(info) {
  uv_loop_s* loop = nullptr;
  static_cast<void>(napi_get_uv_event_loop(info.Env(), &loop));
  try {
    polls_ = watchPolls(loop);
  } catch (const std::exception& error) {
    throw toJsError(info.Env(), error);
  }
}

Napi::Value PollsBinding::look(const Napi::CallbackInfo& info) {
  polls_->look();
  return info.Env().Undefined();
}

Napi::Value PollsBinding::takeResumed(const Napi::CallbackInfo& info) {
  const std::optional<int> descriptor = polls_->takeResumed();
  if (!descriptor) return info.Env().Undefined();
  return Napi::Number::New(info.Env(), *descriptor);
}

Napi::Value PollsBinding::hasPendingBytes(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), hasUnacknowledged(info[0].ToNumber().Int32Value()));
}

}  // namespace hostwire
