// The JavaScript class `PausedPolls`: descriptors of connections that another library owns.
#include <napi.h>
#include <node_api.h>

#include <memory>
#include <optional>

#include "host/paused_polls.h"
#include "napi/error_js.h"
#include "napi/exports.h"

namespace hostwire {
namespace {

class PollsBinding : public Napi::ObjectWrap<PollsBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    return DefineClass(env, name,
                       {InstanceMethod<&PollsBinding::look>("look"),
                        InstanceMethod<&PollsBinding::takeResumed>("takeResumed"),
                        InstanceMethod<&PollsBinding::hasPendingBytes>("hasPending")});
  }
  // new PausedPolls(): of the event loop of this thread
  explicit PollsBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PollsBinding>(info) {
    uv_loop_s* loop = nullptr;
    static_cast<void>(napi_get_uv_event_loop(info.Env(), &loop));
    polls_ = orThrow(info.Env(), [&] { return watchPolls(loop); });
  }

 private:
  // look()
  void look(const Napi::CallbackInfo&) { polls_->look(); }
  // takeResumed(): number | undefined
  Napi::Value takeResumed(const Napi::CallbackInfo& info) {
    const std::optional<int> descriptor = polls_->takeResumed();
    if (!descriptor) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), *descriptor);
  }
  // hasPending(descriptor: number): boolean
  Napi::Value hasPendingBytes(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), hasUnacknowledged(info[0].ToNumber().Int32Value()));
  }

  std::unique_ptr<PausedPolls> polls_;
};

}  // namespace

void exportPolls(const Exports& exports) { exports.addClass<PollsBinding>("PausedPolls"); }

}  // namespace hostwire
