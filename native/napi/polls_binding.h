// The JavaScript class `PausedPolls`: descriptors of connections that another library owns.
#pragma once

#include <napi.h>

#include <memory>

#include "host/paused_polls.h"

namespace hostwire {

class PollsBinding : public Napi::ObjectWrap<PollsBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new PausedPolls(): of the event loop of this thread
  explicit PollsBinding(const Napi::CallbackInfo& info);

 private:
  // look()
  Napi::Value look(const Napi::CallbackInfo& info);
  // takeResumed(): number | undefined
  Napi::Value takeResumed(const Napi::CallbackInfo& info);
  // hasPending(descriptor: number): boolean
  Napi::Value hasPendingBytes(const Napi::CallbackInfo& info);

  std::unique_ptr<PausedPolls> polls_;
};

}  // namespace hostwire
