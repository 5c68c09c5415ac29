// The JavaScript class `Controls`.
#include "napi/controls_binding.h"

#include <node_api.h>

#include "napi/exports.h"

namespace hostwire {
namespace {

// Identifies an object of this class.
constexpr napi_type_tag kTag{0x6c6f72746e6f4357, 0x8d0b1f5a2e7c4936};

class ControlsBinding : public Napi::ObjectWrap<ControlsBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) { return DefineClass(env, name, {}); }
  // new Controls()
  explicit ControlsBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ControlsBinding>(info), controls(std::make_shared<Controls>(info.Env())) {
    info.This().As<Napi::Object>().TypeTag(&kTag);
    // Pinned for the life of the environment, so objects made from it need no reference.
    Ref();
    // Added after the thread-safe function was created, so that it runs before that function is finalized.
    isHooked_ = napi_add_env_cleanup_hook(info.Env(), endWithEnvironment, this) == napi_ok;
  }
  ~ControlsBinding() override {
    if (isHooked_) napi_remove_env_cleanup_hook(Env(), endWithEnvironment, this);
    end();
  }

  const std::shared_ptr<Controls> controls;

 private:
  // Joining is safe because nothing on the command thread blocks.
  void end() {
    controls->thread.stop();
    controls->js.close();
  }
  static void endWithEnvironment(void* data) {
    auto* const self = static_cast<ControlsBinding*>(data);
    self->isHooked_ = false;
    self->end();
  }

  bool isHooked_ = false;
};

}  // namespace

std::shared_ptr<Controls> controlsOf(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTag))
    throw Napi::TypeError::New(value.Env(), "not an object made by new Controls()");
  return ControlsBinding::Unwrap(value.As<Napi::Object>())->controls;
}

void exportControls(const Exports& exports) { exports.addClass<ControlsBinding>("Controls"); }

}  // namespace hostwire
