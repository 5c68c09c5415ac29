// The JavaScript class `Controls`.
#include "napi/controls_binding.h"

#include <node_api.h>

namespace hostwire {
namespace {

// Identifies an object of this class.
constexpr napi_type_tag kTag{0x6c6f72746e6f4357, 0x8d0b1f5a2e7c4936};

}  // namespace

Napi::Function ControlsBinding::define(Napi::Env env) { return DefineClass(env, "Controls", {}); }

std::shared_ptr<Controls> ControlsBinding::of(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTag))
    throw Napi::TypeError::New(value.Env(), "not an object made by new Controls()");
  return Unwrap(value.As<Napi::Object>())->controls_;
}

ControlsBinding::ControlsBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<ControlsBinding>(info), controls_(std::make_shared<Controls>(info.Env())) {
  info.This().As<Napi::Object>().TypeTag(&kTag);
  // Pinned for the life of the environment, so objects made from it need no reference.
  Ref();
  // Added after the thread-safe function was created, so that it runs before that function is finalized.
  isHooked_ = napi_add_env_cleanup_hook(info.Env(), endWithEnvironment, this) == napi_ok;
}

ControlsBinding::~ControlsBinding() {
  if (isHooked_) napi_remove_env_cleanup_hook(Env(), endWithEnvironment, this);
  controls_->thread.stop();
  controls_->js.close();
}

// Joining is safe because nothing on the command thread blocks.
void ControlsBinding::endWithEnvironment(void* data) {
  auto* const self = static_cast<ControlsBinding*>(data);
  self->isHooked_ = false;
  self->controls_->thread.stop();
  self->controls_->js.close();
}

}  // namespace hostwire
