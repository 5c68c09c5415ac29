// The JavaScript class `Power`: the machine's power manager.
#pragma once

#include <napi.h>

#include <memory>

#include "host/power.h"
#include "napi/controls_binding.h"

namespace hostwire {

class PowerBinding : public Napi::ObjectWrap<PowerBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Power(controls, onSleep: (isGoingToSleep: boolean) => void)
  explicit PowerBinding(const Napi::CallbackInfo& info);

 private:
  // support(action: string): Promise<{isSupported, reason: string | null}>
  Napi::Value support(const Napi::CallbackInfo& info);
  // act(action: string): Promise<void>; rejects with the reason
  Napi::Value act(const Napi::CallbackInfo& info);
  // inhibitors(): Promise<{who, why, what, uid}[]>; rejects when they cannot be listed
  Napi::Value inhibitors(const Napi::CallbackInfo& info);
  // delaySleep(why: string): Promise<void>; rejects with the reason why sleeps are not delayed
  Napi::Value delaySleep(const Napi::CallbackInfo& info);
  // allowSleep(): void
  void allowSleep(const Napi::CallbackInfo& info);
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info);

  std::shared_ptr<Controls> controls_;
  std::unique_ptr<PowerControl> power_;
};

}  // namespace hostwire
